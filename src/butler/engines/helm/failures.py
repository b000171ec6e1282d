"""What Helm says when it fails, and which of our errors that is."""

from __future__ import annotations

import re
from collections.abc import Callable

from .errors import (
    ChartNotFound,
    ChartRefused,
    ChartUnavailable,
    ClusterUnreachable,
    HelmError,
    ReleaseBusy,
    ReleaseNotReady,
    ReleaseRefused,
    RenderFailed,
)
from .program import Ran
from .redaction import Redaction

_LONGEST = 1000
_NOISE = re.compile(
    r"^(Error: |(INSTALLATION|UPGRADE|ROLLBACK|UNINSTALLATION) FAILED: |[\w/.-]+ has been rolled back.*)"
)
_LOG = re.compile(r"^([IWE]\d{4} |WARNING: |level=|time=|Update Complete|Hang tight|Successfully)")
_TEMPLATE = re.compile(r"\b(?:template: |at \(|parse error on |in )?([\w.-]+/(?:charts/|templates/)[^\s:()]+):?(\d+)?")
_RENDERING = re.compile(
    r"parse error|execution error|error calling|template: |executing \"|don't meet the specifications of the schema"
    r"|error converting YAML|error unmarshaling|cannot load values|failed to render|unable to parse YAML",
    re.IGNORECASE,
)
_NO_MEMORY = re.compile(r"fatal error: (runtime: )?(out of memory|cannot allocate)|runtime: out of memory")
_NOT_READY = re.compile(
    r"context deadline exceeded|timed out waiting|not ready|context canceled|backoff ?limit|Failed: 1|job failed"
    r"|release .* failed, and has been .* due to",
    re.IGNORECASE,
)
_BUSY = re.compile(r"another operation \(install/upgrade/rollback\) is in progress")
_UNREACHABLE = re.compile(
    r"cluster unreachable|connection refused|no such host|i/o timeout|TLS handshake timeout|EOF$|connection reset"
    r"|server is currently unable|Unauthorized|failed calling webhook"
)
_REFUSED = re.compile(
    r"is invalid|forbidden|denied|cannot be imported|no matches for kind|ensure CRDs are installed|conflict"
    r"|immutable|unable to build kubernetes objects|unknown field|already exists|is not allowed|exceeded quota"
)
_NO_CHART = re.compile(
    r"no chart (?:name|version) found|not found in .* index|chart .* not found|: not found|404 Not Found"
    r"|manifest unknown|name unknown|failed to locate|could not locate a version"
)
_NOT_A_CHART = re.compile(
    r"Chart\.ya?ml file is missing|not a valid chart|chart\.metadata|gzip: invalid|does not appear to be a gzipped"
    r"|missing in charts/|cannot load Chart|invalid chart|validation: chart"
)


def of_chart(chart: str, ran: Ran, redaction: Redaction) -> HelmError:
    """Why a chart could not be fetched."""
    text = _said(ran)
    message = redaction(text)
    if ran.timed_out:
        return ChartUnavailable(chart, "no answer in time")
    if _NO_CHART.search(text):
        return ChartNotFound(chart, message)
    if _NOT_A_CHART.search(text):
        return ChartRefused(chart, message)
    return ChartUnavailable(chart, message)


_KINDS: tuple[tuple[re.Pattern[str], Callable[[str, str], HelmError]], ...] = (
    (_BUSY, ReleaseBusy),
    (_NOT_A_CHART, ChartRefused),
    (_NOT_READY, ReleaseNotReady),
    (_UNREACHABLE, ClusterUnreachable),
    (_REFUSED, ReleaseRefused),
)
"""In this order: an error may say several things, the first of which is why."""


def of_release(release: str, ran: Ran, redaction: Redaction) -> HelmError:
    """Why a release could not be changed, or rendered."""
    text = _said(ran)
    message = redaction(text)
    if ran.timed_out:
        return ReleaseNotReady(release, "Helm did not come to an end in time and was stopped")
    if _NO_MEMORY.search(ran.errors):
        return RenderFailed(release, "takes more memory than a run of Helm may have")
    if ran.code < 0:
        return HelmError(release, f"Helm was killed by signal {-ran.code}, by somebody or for computing too long")
    if _RENDERING.search(text) and not _NOT_READY.search(text):
        found = _TEMPLATE.search(text)
        template, line = (found[1], int(found[2] or 0)) if found else ("", 0)
        return RenderFailed(release, message, redaction(template), line)
    for pattern, kind in _KINDS:
        if pattern.search(text):
            return kind(release, message)
    return HelmError(release, message or f"Helm ended with {ran.code} and said nothing")


def _said(ran: Ran) -> str:
    """What Helm said was wrong, in one line."""
    lines = [line.strip() for line in ran.errors.splitlines() if not _LOG.match(line)]
    marked = next((number for number, line in enumerate(lines) if line.startswith("Error: ")), 0)
    said = " ".join(line for line in lines[marked:] if line)
    if "failed to update the following repositories" in said or not said:
        # Why a repository cannot be had is told on the other channel.
        told = [line.strip(" \t.") for line in ran.output.splitlines()]
        said = " ".join(line for line in told if line and not _LOG.match(line)) or said
    while match := _NOISE.match(said):
        said = said[match.end() :]
    return said[:_LONGEST].strip()
