"""The server's keys and certificates, kept in one private directory.

How the isolated APIs (*spaces*: the root, and one per tenant) are kept apart:

- The server has one serving certificate. It is signed by the root authority, and every client, of whatever space,
  trusts that authority to recognise the server.
- Each space has an authority of its own that signs its client certificates, and a key of its own that signs its
  service-account tokens. The TLS listener lets the certificates of every authority through; the authenticator then
  asks the authority *of the requested space* whether it issued the certificate, and verifies a token with the key *of
  the requested space* only. So `system:masters` in one space is nobody in another, and handing a tenant the private
  key of its own authority endangers no one else.
- A space that is removed and made anew gets new keys: old credentials are worthless there.

```
ca.crt, ca.key                  the root authority: 10 years, never replaced
sa.key                          signs the root's service-account tokens: never replaced
apiserver.crt, apiserver.key    what the server shows; only the certificate is renewed
admin.crt, admin.key            the administrator of the root; only the certificate is renewed
```
The keys of the other spaces are stored with their objects, so that both come and go together.

Directories appear whole, files are replaced whole, and renewal keeps the key: no crash can leave half a pair. What is
missing or damaged is therefore reported, never made anew, because a new authority would lock everybody out.
"""

from __future__ import annotations

import binascii
import re
import socket
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from kubekit.clock import Clock
from kubekit.errors import DataDamaged
from kubekit.server.objects.user import MASTERS
from kubekit.server.store import private_files

from .authority import Authority, facts_of
from .identities import CertificateFacts, KeyPair
from .listener import ListenerTls

ROOT = "root"
"""The name of the root space."""

ADMIN = "kubernetes-admin"
ALWAYS_SERVED = (
    "127.0.0.1",
    "::1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "10.96.0.1",
)
AUTHORITY_DAYS = 3650
CERTIFICATE_DAYS = 365
RENEW_BEFORE = timedelta(days=30)

_PEM_BLOCK = re.compile(rb"-----BEGIN ([A-Z ]+)-----\s(.+?)-----END \1-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SpaceKeys:
    """What makes one isolated API's credentials its own."""

    space: str
    authority: Authority
    signing_key: bytes
    """PEM of the private key that signs service-account tokens."""
    admin: KeyPair
    """Its administrator."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """Which certificates were made anew; who wrote them elsewhere (a kubeconfig) must do so again."""

    serving: bool = False
    admin: bool = False


class Pki:
    """The keys and certificates in one directory. Call `open` first, then `renew` daily."""

    def __init__(self, directory: Path, clock: Clock, extra_names: Iterable[str] = ()) -> None:
        self.directory = directory
        self.clock = clock
        self.names = frozenset({*ALWAYS_SERVED, *_own_host_name(), *extra_names})

    def open(self, *, is_new: bool = True) -> Renewal:
        """Load and check everything, make it on the first start, renew what ends soon. Raises DataDamaged.

        Unless all `is_new`, there must be keys already: others would be of no use to anybody."""
        private_files.make_private(self.directory.parent)
        if not self.directory.exists() or not any(self.directory.iterdir()):
            if not is_new:
                raise DataDamaged(
                    f"{self.directory}: the keys are missing, and there are objects: with new keys, nobody who has a "
                    "kubeconfig or a token would get in any more; restore it from a backup, or salvage the objects"
                )
            private_files.create_directory(self.directory, self._first_files())
            fresh = True
        else:
            fresh = False
        self._root = Authority(self._pair("ca"))
        self._signing_key = private_files.read(self.directory / "sa.key")
        _require_pem(self.directory / "sa.key", self._signing_key, "PRIVATE KEY")
        renewal = self.renew()
        return Renewal(serving=True, admin=True) if fresh else renewal

    def renew(self) -> Renewal:
        """Replace the server's and the administrator's certificates that end within 30 days or are not valid yet."""
        now = self.clock.now()
        serving, admin = self._pair("apiserver"), self._pair("admin")
        renewal = Renewal(
            serving=self._is_stale("apiserver", serving, now, self.names), admin=self._is_stale("admin", admin, now)
        )
        if renewal.serving:
            private_files.write_private(
                self.directory / "apiserver.crt", self._serving_certificate(self._root, serving.key)
            )
        if renewal.admin:
            private_files.write_private(self.directory / "admin.crt", self._admin_certificate(self._root, admin.key))
        if renewal.serving and "_listener" in self.__dict__:
            self._listener.show_again()
        return renewal

    def salvage(self, source: Path) -> list[str]:
        """Make the directory out of what is intact in another one; answers what was lost and is new."""
        files, lost = self._first_files(), list[str]()
        if (pair := _intact_pair(source, "ca")) is not None:
            files["ca.crt"], files["ca.key"] = pair.certificate, pair.key
        else:
            lost.append("pki/ca.key: the authority is lost: every kubeconfig must be handed out again")
        try:
            files["sa.key"] = private_files.read(source / "sa.key")
            _require_pem(source / "sa.key", files["sa.key"], "PRIVATE KEY")
        except DataDamaged:
            files["sa.key"] = _space_files(ROOT, self.clock.now())["sa.key"]
            lost.append("pki/sa.key: is lost: the tokens of all service accounts must be made anew")
        root = Authority(KeyPair(files["ca.crt"], files["ca.key"]))
        files["apiserver.crt"] = self._serving_certificate(root, files["apiserver.key"])
        files["admin.crt"] = self._admin_certificate(root, files["admin.key"])
        for name in ("apiserver", "admin"):
            if pair is not None and (kept := _intact_pair(source, name)) is not None:
                files[f"{name}.crt"], files[f"{name}.key"] = kept.certificate, kept.key
        private_files.create_directory(self.directory, files)
        self.open()
        return lost

    def trust(self, authorities: Mapping[str, bytes]) -> None:
        """Let the listener take client certificates of the authorities (PEM) of further spaces.

        That opens nothing: a certificate counts only where the authority of the space itself issued it."""
        self._listener.trust(authorities)

    def forget(self, space: str) -> None:
        """A space is gone, and with it its authority."""
        self._listener.forget(space)

    def issue_client_certificate(self, cn: str, groups: Iterable[str], days: int) -> KeyPair:
        """A certificate for user `cn` of the root. Raises ValueError for a name X.509 cannot hold."""
        return self._root.issue_client_certificate(cn, groups, days, self.clock.now())

    @property
    def keys(self) -> SpaceKeys:
        """The keys of the root space."""
        return SpaceKeys(ROOT, self._root, self._signing_key, self.admin)

    @property
    def server_authority(self) -> bytes:
        """PEM of the authority by which clients of every space recognise the server (`kube-root-ca.crt`)."""
        return self._root.pair.certificate

    @property
    def admin(self) -> KeyPair:
        """The administrator of the root space."""
        return self._pair("admin")

    @property
    def tls(self) -> ssl.SSLContext:
        """The listener's TLS settings; renewal and new spaces take effect in it for new connections."""
        return self._listener.context

    @cached_property
    def _listener(self) -> ListenerTls:
        return ListenerTls(self._show_certificate, self.server_authority)

    def _show_certificate(self, context: ssl.SSLContext) -> None:
        context.load_cert_chain(self.directory / "apiserver.crt", self.directory / "apiserver.key")

    def _pair(self, name: str) -> KeyPair:
        return _load_pair(self.directory, name)

    def _is_stale(self, name: str, pair: KeyPair, now: datetime, names: frozenset[str] = frozenset()) -> bool:
        try:
            facts = facts_of(pair.certificate)
        except ValueError as error:
            raise _damaged(self.directory / f"{name}.crt", "cannot be read as a certificate") from error
        return _is_due(facts, now) or facts.names != names

    def _first_files(self) -> dict[str, bytes]:
        from .certificates import new_key  # noqa: PLC0415 - slow to load, needed once

        made = _space_files(ROOT, self.clock.now())
        root = Authority(KeyPair(made["ca.crt"], made["ca.key"]))
        made["apiserver.key"], made["admin.key"] = new_key(), new_key()
        made["apiserver.crt"] = self._serving_certificate(root, made["apiserver.key"])
        made["admin.crt"] = self._admin_certificate(root, made["admin.key"])
        return made

    def _serving_certificate(self, root: Authority, key: bytes) -> bytes:
        return root.issue_serving_certificate(key, self.names, CERTIFICATE_DAYS, self.clock.now())

    def _admin_certificate(self, root: Authority, key: bytes) -> bytes:
        return root.renew_client_certificate(key, ADMIN, [MASTERS], CERTIFICATE_DAYS, self.clock.now())


def new_space_keys(space: str, now: datetime) -> SpaceKeys:
    """Fresh keys for a space, with a certificate for its administrator."""
    made = _space_files(space, now)
    authority = Authority(KeyPair(made["ca.crt"], made["ca.key"]))
    admin = authority.issue_client_certificate(ADMIN, [MASTERS], CERTIFICATE_DAYS, now)
    return SpaceKeys(space, authority, made["sa.key"], admin)


def is_due(certificate: bytes, now: datetime) -> bool:
    """Whether it is time to renew a certificate of ours. Raises ValueError when it cannot be read."""
    return _is_due(facts_of(certificate), now)


def _is_due(facts: CertificateFacts, now: datetime) -> bool:
    """It ends soon; or it was made when the clock was ahead, and is not valid yet."""
    return now + RENEW_BEFORE >= facts.not_after or now < facts.not_before


def _space_files(space: str, now: datetime) -> dict[str, bytes]:
    from .certificates import new_authority, new_key  # noqa: PLC0415 - slow to load, needed once

    # Nobody may guess it: whether TLS knows an authority of some name tells whether there is such a space.
    authority = new_authority("kubernetes" if space == ROOT else space, now, AUTHORITY_DAYS, is_marked=space != ROOT)
    return {"ca.crt": authority.certificate, "ca.key": authority.key, "sa.key": new_key()}


def _own_host_name() -> tuple[str, ...]:
    # A name TLS cannot carry (underscores, non-ASCII) is of no use to clients either.
    name = socket.gethostname().lower()
    return (name,) if re.fullmatch(r"[a-z0-9.-]{1,253}", name) else ()


def _load_pair(directory: Path, name: str) -> KeyPair:
    certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
    pair = KeyPair(private_files.read(certificate), private_files.read(key))
    _require_pem(certificate, pair.certificate, "CERTIFICATE")
    _require_pem(key, pair.key, "PRIVATE KEY")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise _damaged(key, f"is damaged or does not belong to {certificate.name}") from error
    return pair


def _intact_pair(directory: Path, name: str) -> KeyPair | None:
    try:
        return _load_pair(directory, name)
    except DataDamaged:
        return None


def _require_pem(path: Path, content: bytes, kind: str) -> None:
    block = _PEM_BLOCK.search(content)
    try:
        if block is None or not block[1].decode().endswith(kind):
            raise ValueError(f"no {kind} in it")
        binascii.a2b_base64(block[2].replace(b"\n", b""), strict_mode=True)
    except ValueError as error:
        raise _damaged(path, f"is not a PEM file with a {kind.lower()}") from error


def _damaged(path: Path, what: str) -> DataDamaged:
    return DataDamaged(f"{path}: {what}; restore it from a backup")
