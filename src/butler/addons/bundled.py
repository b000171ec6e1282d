"""Charts that come with Butler, for what upstream has no chart of."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = "builtin://"
"""Stands for the folder of these charts, wherever Butler is installed."""
FOLDER = Path(__file__).parent / "charts"


def located(repository: str) -> str:
    """Where the charts of a repository really are."""
    return FOLDER.as_uri() if repository == REPOSITORY else repository
