"""A kubeconfig that leads to a tenant's API, of which only the place is looked at."""

from __future__ import annotations

HOST, PORT = "127.0.0.1", 6443
KUBECONFIG = f"""
current-context: shop
contexts: [{{name: shop, context: {{cluster: shop, user: admin}}}}]
clusters: [{{name: shop, cluster: {{server: "https://{HOST}:{PORT}"}}}}]
users: [{{name: admin, user: {{token: nobody-looks-at-it}}}}]
""".encode()
