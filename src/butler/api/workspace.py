"""Workspace and WorkspaceTemplate: a place to work inside a cluster."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from kubekit.model.resource import AGE, Column, Model, NotEmpty, Quantity, Time
from kubekit.model.status import Status

from .model import NOT_YET, Duration, Resource
from .shared import LocalRef


class WorkspacePhase(StrEnum):
    """Where a workspace is in its life."""

    PENDING = "Pending"
    CREATING = "Creating"
    RUNNING = "Running"
    STARTING = "Starting"
    STOPPED = "Stopped"
    FAILED = "Failed"


class Repository(Model):
    """A Git repository that is cloned into the workspace."""

    url: str
    """Address."""
    name: str | None = None
    """Directory; left out, it follows from the address."""
    branch: str = "main"
    """Branch."""
    secret_ref: LocalRef | None = None
    """Secret with Git credentials, in the team's namespace."""


class Dotfiles(Model):
    """Personal settings from a Git repository."""

    url: str
    """Address."""
    install_command: str | None = None
    """Command that installs them; left out, the first usual script that exists."""


class EnvironmentSource(Model):
    """A workload whose environment variables are copied."""

    kind: Literal["Deployment", "StatefulSet"] = "Deployment"
    """Kind of workload."""
    name: str
    """Name of the workload."""
    namespace: str = "default"
    """Namespace of the workload."""
    container: str | None = None
    """Container; left out, the first."""


class WorkspaceResources(Model):
    """Size of a workspace."""

    cpu: str = "2"
    """Cores."""
    memory: str = "4Gi"
    """Memory."""


class EditorConfig(Model):
    """Settings of the editor."""

    neovim_config_repo: str | None = None
    """Git repository for ~/.config/nvim; wins."""
    neovim_config_archive: str | None = None
    """tar.gz for ~/.config/nvim as base64."""
    neovim_init_lua: str | None = None
    """init.lua."""


class WorkspaceBody(Model):
    """What a Workspace and a template of one have in common."""

    image: str
    """Container image."""
    resources: WorkspaceResources | None = None
    repositories: tuple[Repository, ...] = ()
    """Git repositories, each in /workspace under its name."""
    repository: Repository | None = None
    """Older way to write one repository."""
    env_from: EnvironmentSource | None = None
    dotfiles: Dotfiles | None = None


class WorkspaceSpec(WorkspaceBody):
    """The workspace that is wanted."""

    cluster_ref: LocalRef
    """TenantCluster beside this object."""
    owner: NotEmpty
    """E-mail address of the owner."""
    storage_size: Quantity = "10Gi"
    """Size of the volume."""
    ssh_public_keys: tuple[str, ...] = ()
    """Keys that may sign in; left out, those of the owner."""
    idle_timeout: Duration = "4h"
    """Close the connection this long after it was opened; 0 means never."""
    auto_stop_after: Duration = "8h"
    """Stop this long after the last connection; 0 means never."""
    editor_config: EditorConfig | None = None


class WorkspaceStatus(Status):
    """The workspace as it is."""

    phase: WorkspacePhase | None = None
    """Where it is in its life."""
    connected: bool | None = None
    """Can be reached by SSH."""
    ssh_endpoint: str | None = None
    """SSH address as ip:port."""
    pod_name: str | None = None
    """Pod."""
    pvc_name: str | None = None
    """Volume claim."""
    service_name: str | None = None
    """Service."""
    last_activity_time: Time | None = None
    """Last connection."""
    last_disconnect_time: Time | None = None
    """End of the last connection."""


class Workspace(
    Resource,
    plural="workspaces",
    short="ws",
    columns=(
        Column("Phase", ".status.phase"),
        Column("Cluster", ".spec.clusterRef.name"),
        Column("Owner", ".spec.owner"),
        Column("Image", ".spec.image"),
        Column("Connected", ".status.connected", "boolean"),
        AGE,
    ),
):
    """A place to work inside a tenant cluster, reached by SSH."""

    spec: Annotated[WorkspaceSpec, NOT_YET]
    status: WorkspaceStatus = WorkspaceStatus()


class TemplateBody(WorkspaceBody):
    """The workspace a template makes; owner and cluster are filled in by whoever uses it."""

    storage_size: Quantity | None = None
    """Size of the volume."""


class WorkspaceTemplateSpec(Model):
    """The template and how it is shown."""

    display_name: NotEmpty
    """Title."""
    description: str | None = None
    """What it offers."""
    category: Literal["backend", "frontend", "data", "devops", "custom"] = "custom"
    """Where it is listed."""
    icon: str | None = None
    """Icon name or address."""
    scope: Literal["cluster", "team"] = "team"
    """For all teams (kept in butler-system), or for one."""
    template: TemplateBody


class WorkspaceTemplate(
    Resource,
    plural="workspacetemplates",
    short="wst",
    columns=(
        Column("Display Name", ".spec.displayName"),
        Column("Image", ".spec.template.image"),
        Column("Category", ".spec.category"),
        Column("Scope", ".spec.scope"),
        AGE,
    ),
):
    """A ready-made choice for new workspaces."""

    spec: Annotated[WorkspaceTemplateSpec, NOT_YET]
