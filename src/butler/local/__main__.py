"""`python -m butler.local`: butleradm, for processes that Butler starts itself."""

from butler.cli.adm import main

main()
