"""The services of AWS in one region: one call, one answer or one error of ours."""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import AsyncExitStack
from functools import cache
from typing import Any

from aiobotocore.config import AioConfig
from aiobotocore.httpsession import AIOHTTPSession
from aiobotocore.session import AioSession
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.loaders import Loader
from botocore.parsers import ResponseParserError

from butler.errors import MachineRejected, ProviderError, ProviderUnavailable, RateLimited

from ..rest import Reply, cleaned
from .errors import kind_of
from .section import Settings

NAME = "aws"

OPERATIONS = frozenset({
    # machines
    "DescribeInstances", "RunInstances", "TerminateInstances", "DescribeVolumes", "DeleteVolume",
    "DescribeNetworkInterfaces", "DeleteNetworkInterface",
    # what they are made of
    "DescribeImages", "DescribeSubnets", "DescribeSecurityGroups", "DescribeInstanceTypes",
    "DescribeInstanceTypeOfferings", "GetParameter", "GetCallerIdentity",
    # load balancers
    "CreateLoadBalancer", "DescribeLoadBalancers", "DeleteLoadBalancer", "CreateTargetGroup", "DescribeTargetGroups",
    "ModifyTargetGroup", "DeleteTargetGroup", "CreateListener", "DescribeListeners", "DeleteListener",
    "DescribeTargetHealth", "RegisterTargets", "DeregisterTargets", "DescribeTags",
    # images
    "ImportSnapshot", "DescribeImportSnapshotTasks", "CancelImportTask", "RegisterImage", "DeregisterImage",
    "DescribeSnapshots", "DeleteSnapshot", "CreateTags",
})  # fmt: skip
"""All that is ever asked of AWS."""

for _logger in ("botocore", "aiobotocore"):
    # At level DEBUG they write down whole requests: userData, and tokens of sessions.
    logging.getLogger(_logger).setLevel(logging.INFO)


class Refusal(ProviderError):
    """An answer of AWS that the caller expected, by its code."""

    def __init__(self, about: str, code: str, message: str) -> None:
        super().__init__(NAME, about, message)
        self.code, self.said = code, message


class Api:
    """One account. Nothing is tried again, nothing waits longer than `patience`, and whatever goes wrong is raised as
    ProviderError without any secret."""

    def __init__(self, settings: Settings, patience: float) -> None:
        self._settings, self._patience = settings, patience
        self._transport = _trusting(_context(settings.trust.context(f"provider {NAME}")))
        self._clients: dict[str, Any] = {}
        self._opened, self._opening = AsyncExitStack(), asyncio.Lock()

    async def ask(
        self,
        call: str,
        about: str = "",
        *,
        hidden: tuple[str, ...] = (),
        expected: frozenset[str] | tuple[str, ...] = (),
        **parameters: Any,
    ) -> Any:
        """The answer to a call such as `ec2.run_instances`. Raises Refusal for a code that is expected, else
        ProviderError."""
        service, _, operation = call.partition(".")
        client = await self._client(service)
        try:
            async with asyncio.timeout(self._patience):
                return await getattr(client, operation)(**parameters)
        except TimeoutError as error:
            message = f"no answer within {self._patience:g} s for {call}"
            raise ProviderUnavailable(NAME, about, message) from error
        except ClientError as error:
            # Left out from what is raised: it may show what was sent.
            raise self._translated(error, call, about, hidden, expected) from None
        except ParamValidationError as error:
            said = cleaned(str(error), (*self._settings.keys.secrets, *hidden))
            raise MachineRejected(NAME, about, f"{call}: {said}") from None
        except (BotoCoreError, ResponseParserError, OSError) as error:
            raise ProviderUnavailable(NAME, about, f"{type(error).__name__} for {call}") from None

    async def every(self, call: str, key: str, about: str = "", **parameters: Any) -> list[Any]:
        """Everything that a call lists, however many pages there are."""
        found: list[Any] = []
        mark_out, mark_in = ("Marker", "NextMarker") if call.startswith("elbv2.") else ("NextToken", "NextToken")
        while True:
            page = await self.ask(call, about, **parameters)
            found += page.get(key, ())
            if not page.get(mark_in):
                return found
            parameters[mark_out] = page[mark_in]

    async def close(self) -> None:
        """May be called twice; a later call opens it again."""
        opened, self._opened = self._opened, AsyncExitStack()
        self._clients.clear()
        await opened.aclose()

    async def _client(self, service: str) -> Any:
        async with self._opening:
            if service not in self._clients:
                self._clients[service] = await self._opened.enter_async_context(self._made(service))
            return self._clients[service]

    def _made(self, service: str) -> Any:
        settings = self._settings
        proxy = settings.trust.proxy
        return _session().create_client(
            service,
            region_name=settings.region,
            endpoint_url=settings.endpoint or None,
            verify=not settings.trust.insecure,
            aws_access_key_id=settings.keys.access_key,
            aws_secret_access_key=settings.keys.secret_key,
            aws_session_token=settings.keys.session_token or None,
            config=AioConfig(
                connect_timeout=self._patience,
                read_timeout=self._patience,
                retries={"total_max_attempts": 1},
                proxies={"http": proxy, "https": proxy} if proxy else {},
                http_session_cls=self._transport,
                ignore_configured_endpoint_urls=True,
            ),
        )

    def _translated(
        self,
        error: ClientError,
        call: str,
        about: str,
        hidden: tuple[str, ...],
        expected: frozenset[str] | tuple[str, ...],
    ) -> ProviderError:
        told, meta = error.response.get("Error", {}), error.response.get("ResponseMetadata", {})
        code, status = str(told.get("Code", "")), int(meta.get("HTTPStatusCode", 0))
        said = cleaned(str(told.get("Message", "")), (*self._settings.keys.secrets, *hidden))
        message = f"{code} for {call}" + (f": {said}" if said else "")
        if code in expected:
            return Refusal(about, code, message)
        kind = kind_of(code, status)
        if kind is RateLimited:
            headers = {name.title(): value for name, value in meta.get("HTTPHeaders", {}).items()}
            return RateLimited(NAME, about, message, Reply(status, None, headers).retry_after)
        return kind(NAME, about, message)


def _trusting(context: ssl.SSLContext) -> type[AIOHTTPSession]:
    """The transport of a client. By itself it reads the system's certificates anew for each one, and takes others only
    from a file."""

    class Trusting(AIOHTTPSession):  # type: ignore[misc] # it has no types
        def _build_verify_context(self) -> ssl.SSLContext:
            return context

    return Trusting


def _context(trusted: ssl.SSLContext | bool) -> ssl.SSLContext:
    if not isinstance(trusted, bool):
        return trusted
    return _system_context() if trusted else _careless_context()


@cache
def _system_context() -> ssl.SSLContext:
    return ssl.create_default_context()


@cache
def _careless_context() -> ssl.SSLContext:
    """For whoever wrote `insecure: true`."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class _Models(Loader):  # type: ignore[misc] # it has no types
    """What the services understand, as far as it is used here: EC2 alone knows several hundred operations, and a client
    is made with a method for each of them."""

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        model = super().load_service_model(service_name, type_name, api_version)
        if type_name != "service-2":
            return model
        used = {name: one for name, one in model["operations"].items() if name in OPERATIONS}
        return {**model, "operations": used}


@cache
def _session() -> AioSession:
    """What clients are made of: nothing in it belongs to an account, and the models are read from disk once."""
    session = AioSession()
    session.register_component("data_loader", _Models(extra_search_paths=None))
    return session
