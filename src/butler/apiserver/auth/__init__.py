"""Who is asking, and may they? Certificates, tokens, authentication, RBAC and the reviews that answer questions about them."""
