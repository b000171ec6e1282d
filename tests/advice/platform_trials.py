"""Suggestions of a platform that runs."""

from __future__ import annotations

from butler import advice
from butler.providers.nutanix import checks
from butler.providers.nutanix.api import Kind
from tests.advice.stages import SYSTEM, TENANTS, User, shown_in
from tests.advice.trials import Trials

TRIALS = Trials()
NOT_THERE = "butlerctl cluster get nobody"


@TRIALS.of(advice.list_clusters)
def the_first_command(user: User) -> None:
    user.does(shown_in(user.first_screen, advice.list_clusters))


@TRIALS.of(advice.list_clusters)
def clusters_that_use_up_a_quota(user: User) -> None:
    user.running_cluster()
    user.does("butleradm provider create tight --type simulated --max-clusters-per-team 1 --wait")
    user.does("butlerctl cluster create enough --workers 1 --provider tight --wait")
    name = user.refused_cluster("one-too-many", providerConfigRef={"name": "tight"})
    shown = user.comes(f"butlerctl cluster why {name}", "1 is allowed")
    assert "run" in user.does(shown_in(shown, advice.list_clusters))


@TRIALS.of(advice.list_all_clusters)
def a_cluster_that_is_not_there(user: User) -> None:
    user.does(shown_in(user.screen(NOT_THERE), advice.list_all_clusters))


@TRIALS.of(advice.use_platform)
def logging_in(user: User) -> None:
    user.does(f"{shown_in(user.first_screen, advice.use_platform)} && kubectl get tenantclusters -A")


@TRIALS.of(advice.create_cluster)
def the_first_cluster(user: User) -> None:
    assert "3 of 3 workers ready" in user.does(shown_in(user.first_screen, advice.create_cluster))


@TRIALS.of(advice.save_kubeconfig)
def the_kubeconfig_of_the_first_cluster(user: User) -> None:
    user.running_cluster("shop")
    user.does(shown_in(user.first_screen, advice.save_kubeconfig))
    assert "shop-" in user.does("kubectl --kubeconfig shop.kubeconfig get nodes")


@TRIALS.of(advice.get_nodes)
def a_kubeconfig_in_a_file(user: User) -> None:
    shown = user.does(f"butlerctl cluster kubeconfig {user.running_cluster()} -o 'a file'")
    assert "run-" in user.does(shown_in(shown, advice.get_nodes))


@TRIALS.of(advice.merge_kubeconfig)
def using_a_cluster_that_runs(user: User) -> None:
    shown = user.does(f"butlerctl cluster why {user.running_cluster()}")
    merged = user.does(shown_in(shown, advice.merge_kubeconfig))
    assert "run-" in user.does(shown_in(merged, advice.get_nodes))
    user.does("butlerctl cluster list")


@TRIALS.of(advice.merge_kubeconfig)
def using_a_cluster_with_the_platform_in_kubeconfig(user: User) -> None:
    own = user.data / "kubeconfig"
    before, where = own.read_bytes(), {"KUBECONFIG": str(own)}
    user.is_absent("next")
    shown = user.does("butlerctl cluster create next --workers 1 --wait", **where)
    merged = user.does(shown_in(shown, advice.merge_kubeconfig), **where)
    assert own.read_bytes() == before
    assert "next-" in user.does(shown_in(merged, advice.get_nodes), **where)
    user.does("butlerctl cluster list", **where)
    user.is_absent("next")


@TRIALS.of(advice.get_cluster)
def a_name_that_is_taken(user: User) -> None:
    shown = user.screen(f"butlerctl cluster create {user.running_cluster()}")
    assert "Running" in user.does(shown_in(shown, advice.get_cluster))


@TRIALS.of(advice.watch_cluster)
def a_name_that_is_not_free_yet(user: User) -> None:
    name = "going"
    user.apply("TenantCluster", name, TENANTS, {"workers": {"replicas": 1}}, finalizers=["test.example/held"])
    user.kubectl_does(f"delete tenantcluster {name} -n {TENANTS} --wait=false")
    watch = shown_in(user.screen(f"butlerctl cluster create {name}"), advice.watch_cluster)
    assert shown_in(user.does(f"butlerctl cluster why {name}"), advice.watch_cluster) == watch
    release = '{"metadata":{"finalizers":null}}'

    def let_go(_: object) -> None:
        user.kubectl_does(f"patch tenantcluster {name} -n {TENANTS} --type=merge -p '{release}'")

    assert "deleted" in user.meanwhile(watch, "phase", let_go)


@TRIALS.of(advice.why)
def a_cluster_that_failed(user: User) -> None:
    name = user.refused_cluster("nowhere", providerConfigRef={"name": "nobody"})
    shown = user.comes("butleradm status", f"{TENANTS}/{name} has failed")
    command = shown_in(shown, advice.why)
    assert f"{TENANTS}/{name}" in command
    assert "cannot be made as it is written" in user.does(command)
    shown = user.screen(f"butlerctl cluster kubeconfig {name}")
    assert "cannot be made" in user.does(shown_in(shown, advice.why))
    user.does(shown_in(user.does(command), advice.list_providers))
    user.is_absent(name)


@TRIALS.of(advice.list_teams)
def a_team_that_is_not_there(user: User) -> None:
    name = user.refused_cluster("orphan", teamRef={"name": "nobody"})
    user.does(shown_in(user.comes(f"butlerctl cluster why {name}", "spec.teamRef"), advice.list_teams))
    user.is_absent(name)


@TRIALS.of(advice.edit_cluster)
def a_change_that_is_refused(user: User) -> None:
    name = user.running_cluster()
    change = '{"spec":{"kubernetesVersion":"v1.30.2"}}'
    user.kubectl_does(f"patch tenantcluster {name} -n {TENANTS} --type=merge -p '{change}'")
    command = shown_in(user.comes(f"butlerctl cluster why {name}", "its change is refused"), advice.edit_cluster)
    user.does(command, EDITOR="sed -i s/v1.30.2/v1.32.2/")
    user.comes(f"butlerctl cluster why {name}", "is running")


@TRIALS.of(advice.edit_cluster)
def a_pool_that_is_scaled_automatically(user: User) -> None:
    pool = {"name": "gpu", "minReplicas": 1, "maxReplicas": 2}
    name = user.refused_cluster("auto", workers={"pools": [pool]}, providerConfigRef={"name": "nobody"})
    shown = user.screen(f"butlerctl cluster scale {name} --pool gpu --workers 2")
    assert "nothing to change" in user.does(shown_in(shown, advice.edit_cluster), EDITOR="true")
    user.is_absent(name)


@TRIALS.of(advice.cluster_events)
def a_step_that_holds(user: User) -> None:
    flags = "--network-mode ipam --no-check --network-pool addresses --set network.gateway=10.0.0.1"
    user.does(f"butleradm provider create pooled --type simulated {flags}")
    name = user.refused_cluster("held", providerConfigRef={"name": "pooled"})
    shown = user.comes(f"butlerctl cluster why {name}", "NetworkPools")
    assert "NamespaceReady" in user.does(shown_in(shown, advice.cluster_events))
    user.is_absent(name)


@TRIALS.of(advice.cluster_nodes)
def a_machine_that_takes_its_time(user: User) -> None:
    machine, inside = first_machine(user)
    held = '{"metadata":{"finalizers":["machine.cluster.x-k8s.io","test.example/held"]}}'
    user.kubectl_does(f"patch machine {machine} -n {inside} --type=merge -p '{held}'")
    user.kubectl_does(f"delete machine {machine} -n {inside} --wait=false")
    shown = user.comes("butlerctl cluster why run", f"Machine {machine}")
    assert machine in user.does(shown_in(shown, advice.cluster_nodes))
    user.kubectl_does(
        f'patch machine {machine} -n {inside} --type=json -p \'[{{"op":"remove","path":"/metadata/finalizers"}}]\''
    )
    user.comes("butlerctl cluster why run", "is running")


@TRIALS.of(advice.replace_machine)
def a_node_that_somebody_deleted(user: User) -> None:
    machine, _ = first_machine(user)
    user.does("butlerctl cluster kubeconfig run -o run.kubeconfig")
    node = user.does("kubectl --kubeconfig run.kubeconfig get nodes -o name").split()[0]
    user.does(f"kubectl --kubeconfig run.kubeconfig delete {node}")
    shown = user.comes("butlerctl cluster why run", "has been deleted while")
    command = shown_in(shown, advice.replace_machine)
    assert machine in command
    user.does(command)
    user.comes("butlerctl cluster why run", "is running")


def first_machine(user: User) -> tuple[str, str]:
    user.running_cluster()
    user.comes("butlerctl cluster why run", "is running")
    found = user.kubectl_does("get machines -A -l cluster.x-k8s.io/cluster-name=run --no-headers").split()
    return found[1], found[0]


@TRIALS.of(advice.list_providers)
def a_provider_that_is_not_there(user: User) -> None:
    assert "simulated" in user.does(shown_in(user.screen("butleradm provider get nobody"), advice.list_providers))


@TRIALS.of(advice.get_provider)
def a_provider_that_is_there_already(user: User) -> None:
    shown = user.screen("butleradm provider create simulated --type simulated")
    assert "Credentials" in user.does(shown_in(shown, advice.get_provider))


@TRIALS.of(advice.provider_images)
def a_new_provider(user: User) -> None:
    shown = user.does("butleradm provider create lab --type simulated")
    assert "simulated" in user.does(shown_in(shown, advice.provider_images))
    user.is_absent("shop")
    user.does(shown_in(shown, advice.create_cluster_on))
    user.is_absent("shop")


@TRIALS.of(advice.create_cluster_on)
def a_new_provider_and_a_cluster_on_it(user: User) -> None:
    """Part of `a_new_provider`."""


@TRIALS.of(advice.provider_networks)
def a_network_that_is_not_there(user: User) -> None:
    shown = checks._REMEDIES[Kind.SUBNET].replace(advice.NAME, "simulated")
    user.does(shown_in(shown, advice.provider_networks))


@TRIALS.of(advice.create_provider)
def no_providers(user: User) -> None:
    assert "--type" in user.does(shown_in(user.screen("butleradm provider list -n default"), advice.create_provider))


@TRIALS.of(advice.allow_secret)
def a_secret_of_another_namespace(user: User) -> None:
    spec = {
        "provider": "nutanix",
        "nutanix": {"endpoint": "https://127.0.0.1:1", "clusterUUID": "a", "subnetUUID": "b"},
        "credentialsRef": {"name": "keys", "namespace": "default"},
    }
    user.apply("ProviderConfig", "foreign", SYSTEM, spec)
    user.kubectl_does("create secret generic keys -n default --from-literal=username=a --from-literal=password=b")
    shown = user.comes("butleradm provider get foreign", "annotate secret")
    user.does(shown_in(shown, advice.allow_secret), KUBECONFIG=str(user.data / "kubeconfig"))
    assert "allowed-namespaces" in user.kubectl_does("get secret keys -n default -o yaml")
    user.does("butleradm provider delete foreign --yes --no-wait")


@TRIALS.of(advice.close_file)
def a_kubeconfig_that_others_can_read(user: User) -> None:
    path = user.data / "kubeconfig"
    path.chmod(0o644)
    user.does(shown_in(user.screen("butleradm doctor"), advice.close_file))
    assert path.stat().st_mode & 0o777 == 0o600


@TRIALS.of(advice.close_directory)
def a_data_directory_that_others_can_read(user: User) -> None:
    user.data.chmod(0o755)
    user.does(shown_in(user.screen("butleradm doctor"), advice.close_directory))
    assert user.data.stat().st_mode & 0o777 == 0o700


@TRIALS.of(advice.restart)
def a_kubeconfig_that_was_lost(user: User) -> None:
    path = user.data / "kubeconfig"
    path.unlink()
    user.does(shown_in(user.screen("butleradm doctor"), advice.restart))
    assert path.exists()
    user.does("butlerctl cluster list")


@TRIALS.of(advice.stop)
def the_end(user: User) -> None:
    assert "Stopped process" in user.does(shown_in(user.first_screen, advice.stop))
