"""Work that ends."""
