"""Who is asking, and may they? Certificates, tokens, users, RBAC and the reviews that answer questions about them."""
