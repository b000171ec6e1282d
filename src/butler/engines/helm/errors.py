"""What can go wrong with a release, on one page.

    KubeError
    └── HelmError              whatever Helm said and nobody here understands
        ├── HelmMissing        there is no program to run
        ├── ChartUnavailable   where charts come from did not answer, or did not let us in
        ├── ChartNotFound      it answered, and has no such chart or version
        ├── ChartRefused       the reference makes no sense, or the archive is not the one that was asked for
        ├── RenderFailed       chart and values do not go together (template, line)
        ├── ReleaseRefused     the API server did not take what was rendered
        ├── ReleaseNotReady    not ready in time (objects)
        ├── ReleaseBusy        somebody else is changing it, or may be
        ├── RecordDamaged      what the cluster keeps of it cannot be read
        └── ClusterUnreachable no answer from the cluster

No message holds a value of a release or a credential: see `redaction`."""

from __future__ import annotations

from kubekit.errors import KubeError


class HelmError(KubeError):
    """About one release, or about a chart where no release is concerned."""

    reason = "HelmFailed"

    def __init__(self, subject: str, message: str) -> None:
        super().__init__(f"{subject}: {message}")
        self.subject, self.message = subject, message
        self.rolled_back = False
        """Whether what went wrong was undone: the release is as it was before."""


class HelmMissing(HelmError):
    reason = "HelmMissing"


class ChartUnavailable(HelmError):
    reason = "ChartUnavailable"


class ChartNotFound(HelmError):
    reason, retryable = "ChartNotFound", False


class ChartRefused(HelmError):
    reason, retryable = "ChartRefused", False


class RenderFailed(HelmError):
    reason, retryable = "RenderFailed", False

    def __init__(self, subject: str, message: str, template: str = "", line: int = 0) -> None:
        where = f"{template}:{line}: " if line else f"{template}: " if template else ""
        super().__init__(subject, f"{where}{message}")
        self.template, self.line = template, line


class ReleaseRefused(HelmError):
    reason, retryable = "ReleaseRefused", False


class ReleaseNotReady(HelmError):
    reason = "ReleaseNotReady"

    def __init__(self, subject: str, message: str, objects: tuple[str, ...] = ()) -> None:
        super().__init__(subject, f"{message}{': ' if objects else ''}{'; '.join(objects)}")
        self.objects = objects
        """What was not ready, each with why."""


class ReleaseBusy(HelmError):
    reason = "ReleaseBusy"


class RecordDamaged(HelmError):
    reason, retryable = "RecordDamaged", False


class ClusterUnreachable(HelmError):
    reason = "ClusterUnreachable"
