"""What things are: every kind of Butler as a frozen Struct."""
