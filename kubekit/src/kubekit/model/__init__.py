"""What objects are: typed kinds, their definitions, and the small values they are made of. No I/O."""
