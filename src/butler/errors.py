"""What can go wrong with machines and accounts, on one page. What can go wrong with an API stands in `kubekit.errors`.

    KubeError
    └── ProviderError            what an infrastructure answered about a machine (provider, machine)
        ├── ProviderUnavailable  no answer, or none that says anything; it may have done what it was asked
        ├── RateLimited          later (retry_after)
        ├── CapacityExhausted    no room now
        ├── CredentialsInvalid   who are you, or: you may not
        └── MachineRejected      understood and refused: someone has to change what is asked for

`retryable` is all a control loop asks; `reason` is the one word a user sees.
"""

from __future__ import annotations

from kubekit.errors import KubeError


class ProviderError(KubeError):
    """About one machine, or about the whole account when `machine` is empty."""

    reason = "ProviderError"

    def __init__(self, provider: str, machine: str, message: str) -> None:
        about = f"machine {machine!r}: " if machine else ""
        super().__init__(f"{provider}: {about}{message}")
        self.provider, self.machine = provider, machine


class ProviderUnavailable(ProviderError):
    reason = "ProviderUnavailable"


class RateLimited(ProviderError):
    reason = "RateLimited"

    def __init__(self, provider: str, machine: str, message: str, retry_after: float = 0.0) -> None:
        super().__init__(provider, machine, message)
        self.retry_after = retry_after
        """Seconds the infrastructure asks to wait; 0 when it does not say."""


class CapacityExhausted(ProviderError):
    reason = "CapacityExhausted"


class CredentialsInvalid(ProviderError):
    reason, retryable = "CredentialsInvalid", False


class MachineRejected(ProviderError):
    reason, retryable = "MachineRejected", False
