"""Whether everything is there that a machine needs, and what to do when it is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from butler import advice
from butler.errors import CredentialsInvalid

from ..contract import Check
from . import inventory
from .api import Api
from .lookup import MIB, Cluster
from .section import BRIDGE, Settings

OLDEST = (8, 0)
_GIB = 1 << 30
_VMS = (
    "VM.Allocate", "VM.Audit", "VM.Clone", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Disk", "VM.Config.HWType",
    "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.PowerMgmt",
)  # fmt: skip
_AGENT = ("VM.Monitor", "VM.GuestAgent.Audit")
"""To ask the guest for its addresses, the first up to version 8 and the second since."""

Granted = Mapping[str, Mapping[str, Any]]


async def checked(api: Api, settings: Settings) -> tuple[Check, ...]:
    """Raises ProviderError when nothing can be tried."""
    try:
        version = await api.get("/version")
    except CredentialsInvalid as error:
        remedy = "Write a good token, or user and password, into the Secret; see pveum user token list."
        return (Check("credentials", False, str(error), remedy),)
    granted = await api.get("/access/permissions")
    cluster = Cluster.of(await api.get("/cluster/resources"))
    return (
        Check("reachable", True, f"{settings.endpoint} answers."),
        _version(str(version["version"])),
        Check("credentials", True, f"{settings.login.user} is known."),
        _permissions(settings, granted, int(str(version["version"]).partition(".")[0])),
        _capacity(settings, cluster),
        _storage(settings, cluster),
        await _image(api, settings, cluster),
        await _network(api, settings, cluster),
    )


def _version(text: str) -> Check:
    parts = tuple(int(one) for one in text.split(".")[:2] if one.isdigit())
    message = f"Proxmox VE {text}."
    return Check("version", parts >= OLDEST, message, f"Upgrade to {OLDEST[0]}.{OLDEST[1]} or later.", value=text)


def _permissions(settings: Settings, granted: Granted, major: int) -> Check:
    machines = f"/pool/{settings.pool}" if settings.pool else "/vms"
    needed = {
        machines: (*_VMS, _AGENT[major >= 9]),
        f"/storage/{settings.storage}": ("Datastore.AllocateSpace", "Datastore.Audit"),
        f"/storage/{settings.iso_storage}": ("Datastore.Allocate", "Datastore.AllocateTemplate", "Datastore.Audit"),
        **{f"/nodes/{node}": ("Sys.Audit",) for node in settings.nodes},
        **({f"/vms/{settings.source}": ("VM.Audit", "VM.Clone")} if settings.source.isdigit() else {}),
        **({} if _is_as_template(settings) else {_bridge_path(settings.bridge or BRIDGE, granted): ("SDN.Use",)}),
    }
    missing = [f"{one} on {path}" for path, wanted in needed.items() for one in wanted if not _has(granted, path, one)]
    if not missing:
        return Check("permissions", True, "Machines may be made, changed and removed.")
    remedy = f"Give {settings.login.user} a role with them: pveum acl modify PATH --roles ROLE"
    remedy += " --tokens TOKEN, and the same for its user." if settings.login.is_token else " --users USER."
    return Check("permissions", False, f"Missing: {', '.join(missing)}.", remedy)


def _is_as_template(settings: Settings) -> bool:
    """Whether machines are connected as their template is."""
    return not settings.bridge and bool(settings.source) and ":" not in settings.source


def _bridge_path(bridge: str, granted: Granted) -> str:
    """A vnet is in a zone of its own, a bridge in the one that every cluster has."""
    return next((path for path in granted if path.endswith(f"/{bridge}")), f"/sdn/zones/localnetwork/{bridge}")


def _has(granted: Granted, path: str, privilege: str) -> bool:
    """What is said of the nearest place above counts, if it is meant for what is below."""
    if path in granted:
        return privilege in granted[path]
    above = path
    while above != "/":
        above = above.rpartition("/")[0] or "/"
        if above in granted:
            return bool(int(granted[above].get(privilege) or 0))
    return False


def _capacity(settings: Settings, cluster: Cluster) -> Check:
    unknown = [one for one in settings.nodes if one not in cluster.nodes]
    if unknown:
        known = ", ".join(sorted(cluster.nodes))
        return Check(
            "capacity", False, f"There is no host {unknown[0]}.", f"In spec.proxmox.nodes write some of: {known}."
        )
    online = [cluster.nodes[one] for one in settings.nodes if cluster.nodes[one].is_online]
    if not online:
        return Check("capacity", False, "No host is online.", "Start one of the hosts in spec.proxmox.nodes.")
    free = ", ".join(f"{one.name} {one.free // MIB} MB" for one in online)
    remedy = "Stop machines, or add hosts to spec.proxmox.nodes."
    return Check("capacity", any(one.free > 0 or not one.memory for one in online), f"Free memory: {free}.", remedy)


def _storage(settings: Settings, cluster: Cluster) -> Check:
    wanted = ((settings.storage, "images", "storage"), (settings.iso_storage, "iso", "isoStorage"))
    for name, content, field in wanted:
        stores = [one for one in cluster.stores if one.name == name and one.node in settings.nodes]
        if not stores:
            known = ", ".join(sorted({one.name for one in cluster.stores}))
            message = f"There is no storage {name} on {', '.join(settings.nodes)}, or it may not be seen."
            return Check("storage", False, message, f"In spec.proxmox.{field} write one of: {known}.")
        if lacking := [one for one in stores if content not in one.content]:
            message = f"Storage {name} does not take {content}."
            return Check("storage", False, message, f"pvesm set {name} --content {_with(lacking[0].content, content)}")
        if down := [one for one in stores if not one.is_available]:
            return Check(
                "storage", False, f"Storage {name} is not available on {down[0].node}.", "Look at pvesm status."
            )
    free = max(one.free for one in cluster.stores if one.name == settings.storage and one.node in settings.nodes)
    return Check("storage", free > 0, f"Storage {settings.storage} has {free // _GIB} GB free.", "Make room on it.")


def _with(content: Iterable[str], further: str) -> str:
    return ",".join(sorted({*content, further} - {""}))


async def _image(api: Api, settings: Settings, cluster: Cluster) -> Check:
    source = settings.source
    if not source:
        remedy = "Set templateID, template or image in spec.proxmox, unless every machine names its own."
        return Check("image", True, "Machines have to say themselves what they are made of.", remedy)
    if ":" in source:
        known = await inventory.volumes(api, settings, cluster)
        lists = advice.provider_images(advice.NAME)
        remedy = f"Download it there with content import: `{lists}` lists what there is."
        return Check("image", source in known, f"Image {source}{'' if source in known else ' is not there'}.", remedy)
    if found := cluster.templates(source):
        return Check("image", True, f"Template {found[0].name or source} on {', '.join(o.place.node for o in found)}.")
    same = [one for one in cluster.guests if source in (one.name, str(one.place.vmid))]
    if same and not same[0].is_vm:
        return Check("image", False, f"{source} is a container.", "Name the template of a VM.")
    if same:
        remedy = f"Make it one: qm template {same[0].place.vmid}. Nothing can be changed on it afterwards."
        return Check("image", False, f"VM {source} is not a template.", remedy)
    return Check("image", False, f"There is no template {source}, or it may not be seen.", "See: qm list.")


async def _network(api: Api, settings: Settings, cluster: Cluster) -> Check:
    wanted = settings.bridge or BRIDGE
    if _is_as_template(settings):
        return Check("network", True, "Machines are connected as their template is.")
    for node in settings.nodes:
        if node not in cluster.nodes or not cluster.nodes[node].is_online:
            continue
        bridges = [one["iface"] for one in await api.get(f"/nodes/{node}/network", type="any_bridge")]
        if wanted not in bridges:
            remedy = f"In spec.proxmox.bridge write one of: {', '.join(sorted(bridges))}."
            return Check("network", False, f"There is no bridge {wanted} on {node}.", remedy)
    return Check("network", True, f"Bridge {wanted} is on every host.")
