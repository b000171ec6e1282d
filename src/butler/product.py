"""What the embedded server says it is."""

from __future__ import annotations

from butler import __version__
from butler.api.model import AGENT, MOST_PODS, SIMULATED
from kubekit.server.spaces.product import Product

PRODUCT = Product(AGENT, __version__, simulated=SIMULATED, most_pods=MOST_PODS)
