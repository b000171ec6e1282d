"""Every command that a message suggests.

Messages take commands from here and never spell them out themselves, so that a test can run each of them: one that is
added here has to be shown, and carried out, by `tests/advice` as well. `where` and the like are flags that begin with a
space; inside a sentence, a command stands between backticks."""

from __future__ import annotations

import shlex
from pathlib import Path

NAME = "NAME"
"""Stands for a name that whoever speaks cannot know."""


def list_clusters(where: str = "", butlerctl: str = "butlerctl") -> str:
    return f"{butlerctl} cluster list{where}"


def list_all_clusters(where: str = "") -> str:
    return f"butlerctl cluster list -A{where}"


def create_cluster(where: str = "", butlerctl: str = "butlerctl") -> str:
    return f"{butlerctl} cluster create shop{where} --workers 3 --wait"


def create_cluster_on(provider: str, where: str = "") -> str:
    return f"butlerctl cluster create shop --provider {provider}{where}"


def get_cluster(name: str, where: str = "") -> str:
    return f"butlerctl cluster get {name}{where}"


def watch_cluster(name: str, where: str = "") -> str:
    return f"butlerctl cluster watch {name}{where}"


def why(name: str, where: str = "") -> str:
    return f"butlerctl cluster why {name}{where}"


def cluster_events(name: str, where: str = "") -> str:
    return f"butlerctl cluster events {name}{where}"


def cluster_nodes(name: str, where: str = "") -> str:
    return f"butlerctl cluster nodes {name}{where}"


def edit_cluster(name: str, where: str = "") -> str:
    return f"butlerctl cluster edit {name}{where}"


def merge_kubeconfig(name: str, where: str = "") -> str:
    return f"butlerctl cluster kubeconfig {name}{where} --merge"


def save_kubeconfig(name: str, where: str = "", butlerctl: str = "butlerctl") -> str:
    return f"{butlerctl} cluster kubeconfig {name}{where} > {name}.kubeconfig"


def get_nodes(where: str = "", kubectl: str = "kubectl") -> str:
    return f"{kubectl}{where} get nodes"


def addon_catalogue(where: str = "") -> str:
    return f"butlerctl addon catalog{where}"


def list_addons(cluster: str, where: str = "") -> str:
    return f"butlerctl addon list {cluster}{where}"


def get_addon(cluster: str, addon: str, where: str = "") -> str:
    return f"butlerctl addon get {cluster} {addon}{where}"


def install_addon(cluster: str, addon: str, where: str = "") -> str:
    return f"butlerctl addon install {cluster} {addon}{where}"


def uninstall_addon(cluster: str, addon: str, where: str = "") -> str:
    return f"butlerctl addon uninstall {cluster} {addon}{where}"


def list_management_addons(where: str = "") -> str:
    return f"butleradm addon list{where}"


def get_management_addon(name: str, where: str = "") -> str:
    return f"butleradm addon get {name}{where}"


def list_teams(where: str = "") -> str:
    return f"kubectl get teams{where}"


def replace_machine(name: str, namespace: str, where: str = "") -> str:
    """Whoever made the machine makes another one for it."""
    return f"kubectl delete machine {name} -n {namespace}{where}"


def delete_request(name: str, namespace: str, where: str = "") -> str:
    """What is left of its machine goes with it."""
    return f"kubectl delete machinerequest {name} -n {namespace}{where}"


def describe_request(name: str, namespace: str, where: str = "") -> str:
    return f"kubectl describe machinerequest {name} -n {namespace}{where}"


def allow_secret(name: str, namespace: str, annotation: str) -> str:
    return f"kubectl annotate secret -n {namespace} {name} {annotation}"


def list_providers(where: str = "") -> str:
    return f"butleradm provider list{where}"


def get_provider(name: str, where: str = "") -> str:
    return f"butleradm provider get {name}{where}"


def provider_images(name: str, where: str = "") -> str:
    return f"butleradm provider images {name}{where}"


def provider_networks(name: str, where: str = "") -> str:
    return f"butleradm provider networks {name}{where}"


def create_provider() -> str:
    return "butleradm provider create --help"


def start(flags: str = "") -> str:
    return f"butleradm up{flags}"


def start_elsewhere(flags: str = "") -> str:
    """On whatever port is free."""
    return f"butleradm up --port 0{flags}"


def start_on(kubeconfig: str) -> str:
    return f"butleradm up --kubeconfig {shlex.quote(kubeconfig)}"


def simulate_on(kubeconfig: str, flags: str = "") -> str:
    return f"butleradm up --kubeconfig {shlex.quote(kubeconfig)} --simulate{flags}"


def restart(data: str = "", flags: str = "") -> str:
    return f"butleradm down{data} && butleradm up --detach{data}{flags}"


def stop(data: str = "") -> str:
    return f"butleradm down{data}"


def platform_status(data: str = "") -> str:
    return f"butleradm status{data}"


def platform_log(data: str = "") -> str:
    return f"butleradm logs{data}"


def use_platform(kubeconfig: str) -> str:
    return f"export KUBECONFIG={shlex.quote(kubeconfig)}"


def close_directory(path: Path) -> str:
    return f"chmod 700 {shlex.quote(str(path))}"


def close_file(path: Path) -> str:
    return f"chmod 600 {shlex.quote(str(path))}"


def own_directory(path: Path) -> str:
    return f"sudo chown -R $USER {shlex.quote(str(path))}"


def end_process(pid: str) -> str:
    return f"kill {pid}"


def who_listens(port: int) -> str:
    return f"ss -ltnp 'sport = :{port}'"


def set_clock() -> str:
    return "sudo timedatectl set-ntp true"


def reinstall() -> str:
    return "make clean setup"
