"""butleradm provider create: what it writes, what it asks for, and what it refuses before anything is written."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml

from butler.cli.provider.create import create
from butler.cli.provider.section_flags import RESERVED, TYPES, fields, keys_of
from testbed.running.embedded import BIN, PATIENCE
from tests.cli.conftest import User

pytestmark = pytest.mark.usefixtures("own_providers")

PASSWORD = "canary-5d1f-password"
NUTANIX = ("--type", "nutanix", "--endpoint", "https://prism.example.com", "--cluster", "c1", "--subnet", "vms")

AZURE = (
    "--type", "azure", "--subscription-id", "s", "--resource-group", "g",
    "--location", "westeurope", "--vnet-name", "v", "--subnet-name", "n",
)  # fmt: skip


def new_name() -> str:
    return f"p-{uuid.uuid4().hex[:8]}"


def stored(user: User, kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(user.kubectl("get", kind, name, "-n", "butler-system", "-o", "json").out)
    return found


def exists(user: User, kind: str, name: str) -> bool:
    return f"/{name}\n" in user.kubectl("get", kind, "-n", "butler-system", "-o", "name").out


def drafted(user: User, *arguments: str) -> dict[str, Any]:
    """The spec of what would be written."""
    items = json.loads(
        user.adm("provider", "create", "draft", "--dry-run", "--no-check", "-o", "json", *arguments).out
    )["items"]
    spec: dict[str, Any] = items[-1]["spec"]
    return spec


def test_a_provider_without_credentials_is_one_object(user: User) -> None:
    name = new_name()
    made = user.adm("provider", "create", name, "--type", "simulated", "--capacity", "3", "--no-check")
    assert made.out == f"✓ provider butler-system/{name} created\n"
    assert f"butlerctl cluster create shop --provider {name}" in made.err
    spec = stored(user, "providerconfig", name)["spec"]
    assert (spec["provider"], spec["simulated"]["capacity"]) == ("simulated", 3)
    assert "credentialsRef" not in spec


def test_a_provider_that_lacks_a_field_is_refused_before_anything_is_written(user: User) -> None:
    name = new_name()
    keys = ("tenantID=t", "clientID=c", f"clientSecret={PASSWORD}")
    credentials = [text for key in keys for text in ("--credentials", key)]
    refused = user.adm("provider", "create", name, *AZURE[:8], *credentials, "--no-check", fails=2)
    assert "spec.azure.subnetName (--subnet-name): Required value: machines cannot be made without it" in refused.err
    assert not exists(user, "providerconfig", name)
    assert not exists(user, "secret", f"{name}-credentials")


def test_credentials_become_a_secret(user: User, tmp_path: Path) -> None:
    name, file = new_name(), tmp_path / "password"
    file.write_text(PASSWORD)
    made = user.adm(
        "provider", "create", name, *NUTANIX, "--no-check",
        "--credentials", "username=admin", "--credentials-file", f"password={file}",
    )  # fmt: skip
    assert f"Secret butler-system/{name}-credentials created" in made.out
    assert PASSWORD not in made.out + made.err
    assert stored(user, "providerconfig", name)["spec"]["credentialsRef"] == {"name": f"{name}-credentials"}
    assert stored(user, "secret", f"{name}-credentials")["data"].keys() == {"username", "password"}


def test_an_env_file_may_use_the_spellings_of_others(user: User, tmp_path: Path) -> None:
    file = tmp_path / "prism.env"
    file.write_text(f"# Prism\nexport NUTANIX_USER=admin\n\nNUTANIX_PASSWORD='{PASSWORD}'\n")
    arguments = ("provider", "create", "x", *NUTANIX, "--dry-run", "--no-check", "--credentials-env-file", str(file))
    hidden = user.adm(*arguments)
    secret, config = yaml.safe_load_all(hidden.out)
    assert secret["stringData"] == {"NUTANIX_USER": "********", "NUTANIX_PASSWORD": "********"}
    assert config["kind"] == "ProviderConfig"
    assert PASSWORD not in hidden.out + hidden.err
    secret, _ = yaml.safe_load_all(user.adm(*arguments, "--show-secrets").out)
    assert secret["stringData"]["NUTANIX_PASSWORD"] == PASSWORD
    assert not exists(user, "providerconfig", "x")


def test_the_one_key_of_a_provider_need_not_be_named(user: User, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text("apiVersion: v1\n")
    arguments = ("--type", "harvester", "--network-name", "default/vms", "--credentials-file", str(file))
    shown = user.adm("provider", "create", "x", *arguments, "--dry-run", "--no-check", "--show-secrets").out
    secret, _ = yaml.safe_load_all(shown)
    assert secret["stringData"] == {"kubeconfig": "apiVersion: v1\n"}


def test_a_secret_comes_from_stdin(user: User) -> None:
    shown = user.adm(
        "provider", "create", "x", *NUTANIX, "--credentials", "username=admin", "--credentials-file", "password=-",
        "--dry-run", "--no-check", "--show-secrets", stdin=PASSWORD,
    ).out  # fmt: skip
    secret, _ = yaml.safe_load_all(shown)
    assert secret["stringData"]["password"] == PASSWORD


@pytest.mark.parametrize(
    ("arguments", "lines", "keys"),
    [
        (
            (*AZURE, "--tenant-id", "t"),
            "AZURE_CLIENT_ID=c\nAZURE_CLIENT_SECRET=s\n",
            {"AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"},
        ),
        (
            ("--type", "proxmox", "--endpoint", "https://pve", "--nodes", "a", "--storage", "b"),
            "token=butler@pve!machines=secret\n",
            {"token"},
        ),
        (
            ("--type", "proxmox", "--endpoint", "https://pve", "--nodes", "a", "--storage", "b"),
            "username=root@pam\npassword=p\n",
            {"username", "password"},
        ),
    ],
)
def test_only_what_is_missing_is_missed(
    user: User, tmp_path: Path, arguments: tuple[str, ...], lines: str, keys: set[str]
) -> None:
    file = tmp_path / "login.env"
    file.write_text(lines)
    login = ("--credentials-env-file", str(file))
    shown = user.adm("provider", "create", "x", *arguments, *login, "--dry-run", "--no-check").out
    secret, _ = yaml.safe_load_all(shown)
    assert secret["stringData"].keys() == keys


def test_flags_go_where_the_section_has_them(user: User) -> None:
    uid = "11111111-2222-4333-8444-555555555555"
    spec = drafted(user, *NUTANIX[:-2], "--subnet", uid, "--no-insecure", "--port", "9441", "--secret", "mine")
    assert spec["credentialsRef"] == {"name": "mine"}
    assert spec["nutanix"] == {
        "endpoint": "https://prism.example.com", "port": 9441, "insecure": False,
        "cluster": {"name": "c1"}, "subnet": {"uuid": uid},
    }  # fmt: skip
    proxmox = drafted(
        user, "--type", "proxmox", "--endpoint", "https://pve:8006", "--nodes", "a,b", "--nodes", "c",
        "--storage", "local-lvm", "--vmid-range-start", "200", "--vmid-range-end", "300", "--secret", "mine",
    )["proxmox"]  # fmt: skip
    assert proxmox["nodes"] == ["a", "b", "c"]
    assert proxmox["vmidRange"] == {"start": 200, "end": 300}


def test_an_external_provider_gets_its_settings(user: User) -> None:
    spec = drafted(
        user, "--type", "external", "--external-name", "tinycloud", "--setting", "endpoint=https://tiny",
        "--setting", "zones=[a, b]", "--setting", "spare=2",
    )  # fmt: skip
    assert spec["external"] == {
        "name": "tinycloud",
        "settings": {"endpoint": "https://tiny", "zones": ["a", "b"], "spare": 2},
    }


def test_a_text_may_come_from_a_file(user: User, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("-----BEGIN CERTIFICATE-----\n")
    external = ("--type", "external", "--external-name", "x")
    spec = drafted(user, *external, "--setting", f"ca=@{file}", "--set", f"network.subnet=@{file}")
    assert spec["external"]["settings"]["ca"] == spec["network"]["subnet"] == file.read_text()
    azure = (*AZURE, "--secret", "s")
    assert drafted(user, *azure, "--ca-bundle", f"@{file}")["azure"]["caBundle"] == file.read_text()
    refused = user.adm("provider", "create", "x", *azure, "--ca-bundle", "@/no/where", fails=2)
    assert "Invalid value for '--ca-bundle': /no/where: No such file or directory" in refused.err


def test_what_all_providers_have_in_common_has_flags_too(user: User) -> None:
    spec = drafted(
        user, "--type", "simulated", "--network-mode", "ipam", "--network-pool", "a", "--network-pool", "b:10",
        "--team", "blue", "--max-nodes-per-team", "9", "--set", "network.gateway=10.0.0.1",
    )  # fmt: skip
    assert spec["network"] == {
        "mode": "ipam",
        "poolRefs": [{"name": "a"}, {"name": "b", "priority": 10}],
        "gateway": "10.0.0.1",
    }
    assert spec["scope"] == {"type": "team", "teamRef": {"name": "blue"}}
    assert spec["limits"] == {"maxNodesPerTeam": 9}


def test_flags_win_over_the_file(user: User, tmp_path: Path) -> None:
    file = tmp_path / "provider.yaml"
    file.write_text(
        "apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: ProviderConfig\nmetadata: {name: in-file}\n"
        "spec: {type: aws, credentialsRef: {name: theirs}, aws: {region: eu-west-1, vpcID: vpc-1}}\n"
    )
    shown = user.adm(
        "provider", "create", "-f", str(file), "--set", "aws.region=eu-west-2", "--dry-run", "--no-check"
    ).out
    (config,) = yaml.safe_load_all(shown)
    assert config["metadata"]["name"] == "in-file"
    assert config["spec"]["aws"] == {"region": "eu-west-2", "vpcID": "vpc-1"}


def test_a_file_without_credentials_gets_those_that_are_given(user: User, tmp_path: Path) -> None:
    file, key = tmp_path / "provider.yaml", tmp_path / "key"
    file.write_text(
        "apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: ProviderConfig\nmetadata: {name: in-file}\n"
        "spec: {provider: gcp, gcp: {projectID: p, region: r}}\n"
    )
    arguments = ("provider", "create", "-f", str(file), "--dry-run", "--no-check")
    assert "serviceAccountKey is missing" in user.adm(*arguments, fails=2).err
    key.write_text("{}")
    secret, config = yaml.safe_load_all(user.adm(*arguments, "--credentials-file", str(key)).out)
    assert secret["stringData"] == {"serviceAccountKey": "********"}
    assert config["spec"]["credentialsRef"] == {"name": secret["metadata"]["name"]}


@pytest.mark.parametrize("form", ["yaml", "json", "name"])
def test_programs_read_nothing_but_what_they_asked_for(user: User, form: str) -> None:
    name = new_name()
    out = user.adm("provider", "create", name, "--type", "simulated", "--no-check", "-o", form).out
    if form == "name":
        assert out == f"{name}\n"
    else:
        assert yaml.safe_load(out)["kind"] in ("ProviderConfig", "List")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--type is missing; it is one of harvester, nutanix"),
        (("--region", "x"), "--region is for --type aws, gcp; say --type before it can be used"),
        (("--type", "nutanix", "--region", "x"), "--region is for --type aws, gcp; and this is nutanix"),
        (("--type", "simulated", "--capacity", "many"), "Invalid value for '--capacity'"),
        (("--type", "simulated", "--set", "nonsense"), "'nonsense' is not KEY=VALUE"),
        (("--type", "simulated", "--network-pool", "a:b"), "'a:b' is not NAME or NAME:PRIORITY"),
        ((*NUTANIX, "--credentials", "username=x"), "password is missing: give it with --credentials-file password="),
        ((*NUTANIX, "--credentials", "user=x"), "have no key 'user'; there are: username, password"),
        ((*NUTANIX, "--credentials", PASSWORD), "this is not KEY=VALUE"),
        ((*NUTANIX, "--credentials-file", "x"), "'x' is not KEY=PATH"),
        ((*NUTANIX, "--secret", "a", "--credentials", "username=x"), "--secret names credentials that are there"),
    ],
)
def test_wrong_usage_says_what_would_be_right(user: User, arguments: tuple[str, ...], said: str) -> None:
    refused = user.adm("provider", "create", "x", *arguments, "--no-check", "--dry-run", fails=2)
    assert said in refused.err
    assert PASSWORD not in refused.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--type", "simulated", "--network", "10.0.0"),
            'spec.simulated.network (--network): Invalid value: "10.0.0": must be a range such as 10.0.0.0/16',
        ),
        (
            ("--type", "simulated", "--set", "network.gatway=x"),
            "spec.network.gatway: Forbidden: there is no such field; did you mean gateway?",
        ),
        (
            (*NUTANIX[:-2], "--secret", "s"),
            "spec.nutanix.subnetUUID (--subnet): Required value: here or as subnet.uuid or subnet.name",
        ),
        (("--type", "aws", "--secret", "s"), "spec.aws.region (--region): Required value"),
    ],
)
def test_a_field_that_cannot_stay_is_named_with_its_flag(user: User, arguments: tuple[str, ...], said: str) -> None:
    name = new_name()
    assert said in user.adm("provider", "create", name, *arguments, "--no-check", fails=2).err
    assert not exists(user, "providerconfig", name)


def test_nothing_is_taken_over(user: User) -> None:
    name = new_name()
    user.adm("provider", "create", name, "--type", "simulated", "--no-check")
    again = user.adm("provider", "create", name, "--type", "simulated", "--no-check", fails=7)
    assert f"there is one already; `butleradm provider get {name}` shows it" in again.err
    other, credentials = new_name(), ("--credentials", "username=a", "--credentials-file", "password=-")
    user.kubectl("create", "secret", "generic", f"{other}-credentials", "-n", "butler-system")
    refused = user.adm("provider", "create", other, *NUTANIX, *credentials, "--no-check", stdin="x", fails=7)
    assert f"--secret {other}-credentials uses it" in refused.err
    assert not exists(user, "providerconfig", other)


def test_a_file_that_is_not_there_is_one_line(user: User) -> None:
    refused = user.adm("provider", "create", "x", *NUTANIX, "--credentials-file", "password=/no/where", fails=2)
    assert refused.err == "butleradm: /no/where: No such file or directory\n"


def test_a_platform_that_does_not_answer_is_said_with_what_may_help(user: User, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    kubeconfig = yaml.safe_load(Path(user.environ["KUBECONFIG"]).read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    file.write_text(yaml.safe_dump(kubeconfig))
    arguments = ("provider", "create", "x", "--type", "simulated", "--kubeconfig", str(file))
    assert "`butleradm up` starts a platform on this computer" in user.adm(*arguments, fails=6).err
    assert "`butleradm up` starts a platform" in user.adm("provider", "list", "--kubeconfig", str(file), fails=6).err


def test_a_draft_needs_no_platform(user: User) -> None:
    shown = user.adm(
        "provider", "create", "x", "--type", "simulated", "--dry-run", "--no-check", KUBECONFIG="", PATH="/nowhere"
    )
    assert "# not checked against a platform" in shown.err
    assert yaml.safe_load(shown.out)["spec"]["provider"] == "simulated"


def at_a_terminal(user: User, *arguments: str, answers: dict[str, str]) -> str:
    """Everything a terminal shows while somebody answers each question."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(BIN / "butleradm"), *arguments], env=user.environ, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seen, waiting = "", dict(answers)
    try:
        while select.select([ours], [], [], 20)[0]:
            try:
                seen += os.read(ours, 4096).decode()
            except OSError:
                break
            for question, answer in list(waiting.items()):
                if question in seen:
                    os.write(ours, f"{waiting.pop(question)}\n".encode())
                    assert answer
        assert process.wait(timeout=PATIENCE) == 0, seen
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return seen


def test_what_is_missing_is_asked_for_and_a_password_is_not_shown(user: User) -> None:
    name = new_name()
    seen = at_a_terminal(
        user, "provider", "create", name, *NUTANIX, "--no-check",
        answers={"username: ": "admin", "password: ": PASSWORD},
    )  # fmt: skip
    assert "admin" in seen
    assert PASSWORD not in seen
    data = stored(user, "secret", f"{name}-credentials")["data"]
    assert data.keys() == {"username", "password"}


def test_a_file_is_asked_for_where_nobody_types_a_credential(user: User, tmp_path: Path) -> None:
    name, file = new_name(), tmp_path / "harvester.yaml"
    file.write_text("apiVersion: v1\nkind: Config\n")
    arguments = ("provider", "create", name, "--type", "harvester", "--network-name", "default/vms", "--no-check")
    at_a_terminal(user, *arguments, answers={"File with the kubeconfig: ": str(file)})
    assert stored(user, "secret", f"{name}-credentials")["data"].keys() == {"kubeconfig"}


def test_no_flag_of_a_section_hides_one_of_the_command() -> None:
    own = {flag for one in create.params for flag in (*one.opts, *one.secondary_opts) if flag.startswith("--")}
    assert own - set(RESERVED) == {"--no-check", "--no-wait"}
    for kind in TYPES:
        flags = [flag for one in fields(kind) for flag in (*one.option().opts, *one.option().secondary_opts)]
        assert len(set(flags)) == len(flags)
        assert not own & set(flags)


@pytest.mark.parametrize("kind", TYPES)
def test_help_shows_the_flags_of_the_type_with_what_they_mean(kind: str) -> None:
    context = create.make_context("create", ["--type", kind, "x"], resilient_parsing=True)
    text = create.get_help(context)
    assert f"Options of --type {kind}:" in text
    for field in fields(kind):
        assert field.flag in text
        assert len(field.option().help or "") > len("x.")
    for key in keys_of(kind):
        assert f"\n  {key}" in text


def test_a_name_and_a_type_that_are_missing_are_named_at_once(user: User) -> None:
    refused = user.adm("provider", "create", fails=2).err
    assert "a provider needs a NAME" in refused
    assert "--type is missing" in refused
