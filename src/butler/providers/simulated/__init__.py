"""Infrastructure that exists only in Butler's own records, for trying things out."""
