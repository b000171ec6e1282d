"""What others keep in a cluster is left to them; what they change of ours is not."""

from __future__ import annotations

from butler.addons.gitops import FLUX
from butler.addons.installation.ownership import LABEL
from butler.addons.model import AddonState
from tests.addons.helm.gitops import READY, RELEASE, keep, served
from tests.addons.helm.site import Site
from tests.engines.helm import charts
from tests.engines.helm.world import CONFIG_MAP


async def test_a_release_by_hand_is_refused_and_stays(site: Site) -> None:
    addon = site.addon("web", {"greeting": "ours"})
    await site.make_namespace()
    await site.world.stock("install", "web", str(addon.release.chart.local()), "--set", "greeting=theirs")
    for seen in (await site.installed(addon), await site.look(addon, repair=True)):
        assert (seen.state, seen.keeper, seen.reason) == (AddonState.FAILED, "manual", "AddonConflict")
        assert seen.message == "web: release addons/web is there already, and Butler did not install it"
    await site.installer.remove(site.cluster, addon.place)
    assert (await site.world.data() or {})["greeting"] == "theirs"
    taken = await site.installed(site.addon("web", {"greeting": "ours"}, take_over=True))
    assert (taken.state, taken.revision) == (AddonState.HEALTHY, 2)
    assert (await site.installed(addon)).state is AddonState.HEALTHY
    assert (await site.world.data() or {})["greeting"] == "ours"


async def test_a_release_of_ours_that_was_upgraded_by_hand_is_brought_back(site: Site) -> None:
    addon = site.addon("web", {"greeting": "ours"})
    await site.installed(addon)
    await site.world.stock("upgrade", "web", str(addon.release.chart.local()), "--set", "greeting=theirs")
    looked = await site.look(addon)
    assert (looked.state, looked.outdated, looked.keeper) == (AddonState.INSTALLING, True, "butler")
    assert (await site.installed(addon)).state is AddonState.HEALTHY
    await site.world.helm.rollback(site.cluster, addon.place, 2)
    assert (await site.world.record()).labels == {LABEL: "web"}
    assert (await site.installed(addon)).revision == 5
    assert (await site.world.data() or {})["greeting"] == "ours"


async def test_a_failed_install_is_known_as_ours(site: Site) -> None:
    assert (await site.installed(site.addon("web", {"size": 10}, more=charts.WHOLE))).state is AddonState.FAILED
    assert (await site.world.record()).labels == {LABEL: "web"}
    assert (await site.installed(site.addon("web"))).state is AddonState.HEALTHY


async def test_two_addons_do_not_share_a_release(site: Site) -> None:
    addon = site.addon("web")
    await site.installed(addon)
    another = site.addon("another", place=addon.place)
    seen = await site.installed(another)
    assert (seen.state, seen.keeper, seen.reason) == (AddonState.FAILED, "butler", "AddonConflict")
    assert seen.message == "another: release addons/web is that of the addon web"
    await site.installer.remove(site.cluster, addon.place, name="another")
    assert (await site.look(addon)).state is AddonState.HEALTHY
    await site.installer.remove(site.cluster, addon.place, name="web")
    assert (await site.look(addon)).message == "is not installed"


async def test_what_flux_took_over_is_not_removed(site: Site) -> None:
    addon = site.addon("web")
    async with served(site, FLUX):
        await site.installed(addon)
        await keep(site, FLUX, RELEASE, READY)
        await site.installer.remove(site.cluster, addon.place)
        assert await site.is_there(CONFIG_MAP, "web-config")
