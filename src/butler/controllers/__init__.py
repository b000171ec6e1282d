"""What Butler does: one module or folder for each kind."""
