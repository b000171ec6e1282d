"""What Helm is told, in the words of its version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from .protocol import Place, Release

_KEPT_REVISIONS = 5


@dataclass(frozen=True, slots=True)
class Commands:
    """Arguments for one run. Values and credentials are never among them."""

    version: tuple[int, int]
    kubeconfig: Path
    values: Path

    def upgrade(self, release: Release, chart: Path, description: str) -> tuple[str, ...]:
        return (
            *self._release("upgrade", release, chart),
            "--description", description,
            "--history-max", str(_KEPT_REVISIONS),
            *_labels(release),
            *self._waiting(release.wait),
            *self._server_side(),
        )  # fmt: skip

    def dry_run(self, release: Release, chart: Path) -> tuple[str, ...]:
        return *self._release("upgrade", release, chart), "--dry-run=server", "--output", "json"

    def template(self, release: Release, chart: Path) -> tuple[str, ...]:
        """Without asking the cluster which kinds it knows. Version 3 can still ask it what `lookup` finds."""
        place, asking = release.place, "server" if self.version[0] == 3 else "client"
        return (
            "template", place.name, str(chart), *self._place(place), "--values", str(self.values),
            "--include-crds", f"--dry-run={asking}",
        )  # fmt: skip

    def rollback(self, place: Place, revision: int, timeout: timedelta, hooks: bool) -> tuple[str, ...]:
        return (
            "rollback", place.name, str(revision), *self._place(place), "--timeout", _seconds(timeout),
            "--history-max", str(_KEPT_REVISIONS), *self._server_side(), *(() if hooks else ("--no-hooks",)),
        )  # fmt: skip

    def uninstall(self, place: Place, timeout: timedelta, wait: bool, hooks: bool) -> tuple[str, ...]:
        waiting = ("--wait", "--cascade", "foreground") if wait else ()
        return (
            "uninstall", place.name, *self._place(place), "--ignore-not-found", "--timeout", _seconds(timeout),
            *waiting, *(() if hooks else ("--no-hooks",)),
        )  # fmt: skip

    def _release(self, verb: str, release: Release, chart: Path) -> Iterator[str]:
        yield from (verb, release.place.name, str(chart), "--install", "--reset-values")
        yield from self._place(release.place)
        yield from ("--values", str(self.values), "--timeout", _seconds(release.timeout), "--hide-notes")
        if release.create_namespace:
            yield "--create-namespace"
        if release.take_over:
            yield "--take-ownership"

    def _place(self, place: Place) -> tuple[str, ...]:
        return "--namespace", place.namespace, "--kubeconfig", str(self.kubeconfig)

    def _waiting(self, wait: bool) -> tuple[str, ...]:
        return ("--wait", "--wait-for-jobs") if wait else ()

    def _server_side(self) -> tuple[str, ...]:
        """Version 4 writes by server-side apply, and then must be told that it may take fields back."""
        return ("--server-side=true", "--force-conflicts") if self.version[0] >= 4 else ()


def _labels(release: Release) -> tuple[str, ...]:
    given = ",".join(f"{name}={text}" for name, text in release.labels.items())
    return ("--labels", given) if given else ()


def _seconds(timeout: timedelta) -> str:
    return f"{max(1, round(timeout.total_seconds()))}s"
