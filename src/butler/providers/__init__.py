"""Where machines come from: one folder for each infrastructure, with the same file names."""
