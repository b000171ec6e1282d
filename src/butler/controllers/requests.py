"""What all requests to providers have in common: whose they are, when it is their turn, and what errors come to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any, Generic, TypeVar

from msgspec import structs

from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.api.model import GROUP
from butler.api.normalise import normalise
from butler.api.normalise.spellings import in_namespace
from butler.api.provider import ProviderConfig
from butler.api.references import ALLOWED_NAMESPACES
from butler.api.team import Team
from butler.errors import ProviderError, ProviderUnavailable, RateLimited
from butler.providers.contract import Known
from kubekit.clock import fraction
from kubekit.errors import InvalidConfiguration, KubeError
from kubekit.model.status import Condition, Status
from kubekit.runtime.conditions import Truth, condition, merged
from kubekit.runtime.controller import Controller
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key, key_of
from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch

from . import accounts as shared
from .accounts import Account, Accounts, Busy, ProviderConfigMissing, missing
from .cluster.acceptance import provider_serves

Request = MachineRequest | LoadBalancerRequest | ImageSync
R = TypeVar("R", bound=Request)
S = TypeVar("S", bound=Status)

READY, PROGRESSING = "Ready", "Progressing"
BY_CONFIG = "provider config"
FORCED = f"{GROUP}/force-delete"
"""An annotation: let go without asking the infrastructure, because nobody can ask it any more."""

REFUSED = timedelta(minutes=10)
"""When to try again what was refused, in case the reason went away where nobody tells us."""
_VARIED = 0.2
"""By how much appointments differ, so that those made together do not come together for ever."""


class Requests(Reconciler[R], ABC, Generic[R]):
    """A controller of one kind of request; `only` names the providers this process is for, left out all of them.

    The condition Progressing is written before an infrastructure is asked for the first time, so that a request
    without it has left nothing anywhere."""

    workers = 32
    tells_conditions = False

    def __init__(self, manager: Manager, accounts: Accounts, only: Collection[str] | None = None) -> None:
        self.accounts, self._only = accounts, only
        self._recorder, self._chance = manager.recorder, accounts.surroundings.chance
        self.clock = accounts.surroundings.clock
        self._requests: Informer[R] = manager.informers.of(self.kind)
        self._requests.index(BY_CONFIG, lambda obj: (config_of(obj),))
        self._teams: Informer[Team] = manager.informers.of(Team)
        self._controller: Controller | None = None
        self.watches = (*self.watches, Watch(ProviderConfig, self._of_config, matters=_what_matters))
        self.permissions = (*self.permissions, *shared.NEEDED, Permission(Team, ("get", "list", "watch")))
        accounts.listen(self._wake_all_of)

    def attend(self, controller: Controller) -> None:
        """Whose queue it is."""
        self._controller = controller

    @abstractmethod
    def name_of(self, request: R) -> str:
        """What the infrastructure calls it."""

    @abstractmethod
    def begun(self, obj: R) -> Any:
        """The status before the first call."""

    @abstractmethod
    async def advance(self, request: R, account: Account) -> Outcome:
        """Make calls. Raises ProviderError."""

    @abstractmethod
    async def undo(self, request: R, account: Account) -> Outcome:
        """Make calls until nothing is left; finished when `again` is None. Raises ProviderError."""

    @abstractmethod
    def failed(self, obj: R, reason: str, message: str) -> Any:
        """The status when someone has to change something."""

    @abstractmethod
    def ending(self, obj: R) -> Any:
        """The status while it goes."""

    def never_begun(self, obj: R) -> Any:
        """The status of one that goes before anything was asked for it."""
        return obj.status

    @abstractmethod
    def is_settled(self, obj: R) -> bool:
        """Whether a change of the account is of no interest."""

    def concerns(self, obj: R) -> bool:
        if self._only is None:
            return True
        config = self.accounts.config(config_of(obj))
        return config is not None and config.spec.infrastructure in self._only

    async def reconcile(self, obj: R) -> Outcome:
        try:
            request = normalise(obj)
            config = self.accounts.config(config_of(obj))
            if config is not None and not self._serves(config, obj):
                raise missing(config.key, obj.metadata.namespace)
            if not was_attempted(obj) and config is not None:
                if config.deleting:
                    raise ProviderConfigMissing(f"ProviderConfig {config.key} is being deleted; use another")
                return Outcome(self.stamped(obj, self.begun(obj)), again=timedelta(0))
            async with self.accounts.visit(config_of(obj), key_of(obj), self._wake) as account:
                return self._stamped(obj, await self.advance(request, account))
        except Busy as busy:
            return Outcome(again=busy.again)
        except RateLimited as error:
            # The account is left alone for a while, and that is all there is to say.
            return Outcome(again=shared.pause_after(error))
        except (InvalidConfiguration, ProviderConfigMissing) as error:
            return self._refused(obj, error)
        except ProviderError as error:
            return self._hindered(obj, error) if error.retryable else self._refused(obj, error)

    def _serves(self, config: ProviderConfig, obj: R) -> bool:
        """Whether an account may be used for a request."""
        namespace, scope = obj.metadata.namespace, config.spec.scope
        if config.metadata.namespace == namespace or scope.type != "team":
            return provider_serves(config, namespace)
        team = self._teams.get(scope.team_ref.name) if scope.team_ref is not None else None
        return team is not None and namespace == (team.status.namespace or team.metadata.name)

    async def finalize(self, obj: R) -> Outcome:
        if not was_attempted(obj):
            return Outcome(self.never_begun(obj))
        if obj.metadata.annotations.get(FORCED) == "true":
            self.tell(obj, Note("Abandoned", f"{self.name_of(obj)} was let go without asking.", "Warning"))
            return Outcome()
        try:
            request = normalise(obj)
            async with self.accounts.visit(config_of(obj), key_of(obj), self._wake) as account:
                return self._stamped(obj, await self.undo(request, account))
        except Busy as busy:
            return Outcome(self.stamped(obj, self.ending(obj)), again=busy.again)
        except RateLimited as error:
            return Outcome(self.stamped(obj, self.ending(obj)), again=shared.pause_after(error))
        except (InvalidConfiguration, ProviderConfigMissing, ProviderError) as error:
            return self._cannot_end(obj, error)

    def tell(self, obj: R, note: Note) -> None:
        """Record what the end of an object would swallow."""
        self._recorder.record(obj, self.kind, note, self.source)

    def varied(self, again: timedelta) -> timedelta:
        return again * (1 - _VARIED / 2 + _VARIED * fraction(self._chance))

    def age_of(self, obj: R, type: str) -> timedelta:  # noqa: A002 -- the field's own name
        """How long a condition has been what it is."""
        found = obj.status.condition(type)
        since = found.last_transition_time if found is not None else None
        return self.clock.now() - since if since is not None else timedelta(0)

    def stamped(self, obj: R, status: Any) -> Any:
        """The status with the time, if it says anything new."""
        if status is None or _said(status) == _said(obj.status):
            return status
        return structs.replace(status, last_updated=self.clock.now())

    def _stamped(self, obj: R, outcome: Outcome) -> Outcome:
        return Outcome(self.stamped(obj, outcome.status), outcome.again, outcome.notes, outcome.error)

    def _refused(self, obj: R, error: KubeError) -> Outcome:
        status = self.failed(obj, error.reason, str(error))
        reason = error.reason if self.is_settled(obj) else _FAILED_EVENTS.get(error.reason, "CreateFailed")
        note = Note(reason, str(error), "Warning")
        return Outcome(self.stamped(obj, status), again=self.varied(REFUSED), notes=(note,))

    def _hindered(self, obj: R, error: ProviderError) -> Outcome:
        """It heals by itself: nothing but a condition says so meanwhile."""
        before = obj.status.condition(READY)
        # That nobody can look at something does not mean that it does not run.
        truth: Truth = "Unknown" if before is not None and before.status != "False" else "False"
        conditions = merged(obj.status.conditions, condition(READY, truth, error.reason, str(error)))
        # A task that cannot be looked at goes on; one that failed is told of once.
        tells_of_task = not isinstance(error, ProviderUnavailable)
        task = None if tells_of_task else obj.status.provider_task_id
        status = structs.replace(obj.status, conditions=conditions, provider_task_id=task)
        return Outcome(self.stamped(obj, status), error=error)

    def _cannot_end(self, obj: R, error: KubeError) -> Outcome:
        status = self.ending(obj)
        hint = "" if error.retryable else f" To let go of it all the same, annotate it with {FORCED}=true."
        ready = condition(READY, False, error.reason, f"{error}{hint}")
        status = self.stamped(obj, structs.replace(status, conditions=merged(status.conditions, ready)))
        if error.retryable:
            return Outcome(status, error=error)
        return Outcome(status, again=self.varied(REFUSED), notes=(Note(error.reason, str(error), "Warning"),))

    def _wake(self, visitor: str) -> None:
        if self._controller is not None:
            self._controller.queue.add(visitor)

    def _wake_all_of(self, config: str) -> None:
        for obj in self._requests.by(BY_CONFIG, config):
            if not self.is_settled(obj):
                self._wake(key_of(obj))

    def _of_config(self, config: ProviderConfig) -> Iterable[str]:
        return [key_of(obj) for obj in self._requests.by(BY_CONFIG, config.key) if not self.is_settled(obj)]


_FAILED_EVENTS = {"ProviderConfigError": "ProviderConfigError", "CredentialsInvalid": "CredentialsInvalid"}


def config_of(obj: Request) -> str:
    """The key of the ProviderConfig, however it is spelled."""
    ref = obj.spec.provider_config_ref
    if isinstance(obj, MachineRequest):
        ref = obj.spec.provider_config_ref or obj.spec.provider_ref
    if ref is None or not ref.name:
        return ""
    placed = in_namespace(ref, obj.metadata.namespace)
    return key(placed.namespace or "", placed.name)


def was_attempted(obj: Request) -> bool:
    """Whether an infrastructure may have been asked for anything."""
    return obj.status.condition(PROGRESSING) is not None


def changed(status: S, *conditions: Condition, **fields: Any) -> S:
    """A status with other fields and conditions."""
    return structs.replace(status, conditions=merged(status.conditions, *conditions), **fields)


def halted(status: Status, reason: str = "Failed") -> tuple[Condition, ...]:
    """That nothing goes on, said of what was begun; what never was must not look as if."""
    if status.condition(PROGRESSING) is None:
        return ()
    return (condition(PROGRESSING, False, reason, "It waits for someone."),)


def known_of(id_: str | None, task: str | None) -> Known:
    return Known(id_ or "", task or "")


def _what_matters(config: ProviderConfig) -> object:
    return config.spec, config.deleting, config.metadata.annotations.get(ALLOWED_NAMESPACES)


def _said(status: Any) -> object:
    """A status without times and generations."""
    fields = {name: getattr(status, name) for name in status.__struct_fields__}
    conditions: tuple[Condition, ...] = fields.pop("conditions")
    del fields["last_updated"], fields["observed_generation"]
    return fields, [(one.type, one.status, one.reason, one.message) for one in conditions]
