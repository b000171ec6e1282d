"""What `butleradm doctor` looks at."""
