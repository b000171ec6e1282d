"""How things change."""
