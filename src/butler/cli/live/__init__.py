"""What moves on the screen while somebody waits."""
