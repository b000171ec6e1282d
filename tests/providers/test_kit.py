"""The conformance kit itself: it knows every rule, and notices providers that break one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from butler.errors import ProviderError
from butler.providers.contract import NOTHING_KNOWN, Asset, Choice, Known, Machine, MachineOrder, Power
from butler.providers.simulated.provider import Simulated
from butler.providers.testing import ConformanceKit, Fault
from butler.providers.testing.rules import numbers
from tests.providers.test_simulated_conformance import ACCOUNT, SimulatedHarness

ROOT = Path(__file__).parents[2]
CONTRACT = ROOT / "docs" / "reference" / "provider-contract.md"
OF_CONTROLLERS = range(1, 21)
ELSEWHERE = {22, 24}
"""Rules about configurations and imports: tests/providers/ and the example have tests of their own."""


def written() -> list[int]:
    return [int(number) for number in re.findall(r"^(\d+)\. ", CONTRACT.read_text(), re.MULTILINE)]


def test_rules_are_numbered_without_a_gap() -> None:
    assert written() == list(range(1, 96))


def test_every_rule_for_providers_has_a_test_and_every_test_a_rule() -> None:
    tested = set(numbers(ConformanceKit))
    assert tested | ELSEWHERE | set(OF_CONTROLLERS) == set(written())
    assert len(tested) >= 40


def test_every_rule_for_controllers_is_cited_by_a_test() -> None:
    texts = [path.read_text() for path in (ROOT / "tests" / "controllers").glob("test_*.py")]
    cited = {
        int(number)
        for text in texts
        for found in re.findall(r"Rules? ([\d, ]+)", text)
        for number in re.findall(r"\d+", found)
    }
    assert cited == set(OF_CONTROLLERS)


class Forgetful(Simulated):
    """Takes every order for a new one."""

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        for vm in self._datacentre.of_token(self.account, order.token):
            self._datacentre._replace(vm._replace(token="lost"))
            self._datacentre._by_token[self.account, "lost"] = [vm.id]
            self._datacentre._by_token.pop((self.account, order.token), None)
        return await super().create(order, known)


class ByName(Simulated):
    """Goes by the name alone."""

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        named = [vm.token for vm in self._datacentre.of_account(self.account) if vm.name == name]
        return await super().find(name, named[0] if named else token, known)


class Hasty(Simulated):
    """Says that a machine is gone when it was only asked to go."""

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        await super().delete(name, token, known)
        return True


class Raw(Simulated):
    """Lets foreign errors through."""

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        try:
            return await super().find(name, token, known)
        except ProviderError as error:
            raise OSError("connection reset") from error


class Persistent(Simulated):
    """Tries again by itself."""

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        try:
            return await super().find(name, token, known)
        except ProviderError:
            return await super().find(name, token, known)


class Early(Simulated):
    """Tells an address before there is one."""

    def _shown(self, vm: Any) -> Machine:
        shown = super()._shown(vm)
        return Machine(shown.id, shown.name, shown.token, Power.STARTING, (vm.address,), shown.mac_addresses)


class Cutting(Simulated):
    """Delivers no more than a few bytes of userData."""

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        return await super().create(replace(order, user_data=order.user_data[:64]), known)


class Greedy(Simulated):
    """Deletes whatever has a name that begins alike."""

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        for vm in self._datacentre.of_account(self.account):
            if vm.name.startswith(name):
                self._datacentre.delete(self.account, vm.token, 0)
        return await super().delete(name, token, known)


class Talkative(Simulated):
    """Shows what it was told."""

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        try:
            return await super().create(order, known)
        except ProviderError as error:
            raise type(error)(self.name, order.name, order.user_data) from error


class Short(Simulated):
    """Knows only the first page."""

    async def inventory(self) -> tuple[Asset, ...]:
        return (await super().inventory())[:3]


class Repeating(Simulated):
    """Lists what there is twice."""

    async def images(self) -> tuple[Choice, ...]:
        return await super().images() * 2


class Unsorted(Simulated):
    """Lists what there is as it comes."""

    async def images(self) -> tuple[Choice, ...]:
        return (*await super().images(), Choice("a", "a"))


class Curtailed(Simulated):
    """Lists the first page of what there is."""

    async def images(self) -> tuple[Choice, ...]:
        return (await super().images())[:3]


class Soothing(Simulated):
    """Lists nothing when it cannot look."""

    async def images(self) -> tuple[Choice, ...]:
        try:
            return await super().images()
        except ProviderError:
            return ()


class Nameless(Simulated):
    """Has ids without a scheme."""

    def _shown(self, vm: Any) -> Machine:
        shown = super()._shown(vm)
        return Machine(vm.id, shown.name, shown.token, shown.power, shown.addresses, shown.mac_addresses)


MUTANTS: dict[type[Simulated], tuple[str, dict[str, Any]]] = {
    Forgetful: ("test_orders_with_one_token_are_one_machine", {}),
    ByName: ("test_another_token_finds_nothing", {}),
    Hasty: ("test_gone_is_said_when_it_is_so_and_not_before", {}),
    Raw: ("test_an_error_says_who_and_about_what", {}),
    Persistent: ("test_a_connection_outlives_an_error", {"fault": "AFTER"}),
    Early: ("test_a_machine_has_no_address_before_it_runs", {}),
    Cutting: ("test_user_data_may_be_as_large_as_the_infrastructure_allows", {}),
    Greedy: ("test_neighbours_stay", {}),
    Talkative: ("test_no_secret_is_ever_told", {"caplog": True}),
    Short: ("test_the_inventory_does_not_end_with_the_first_page", {}),
    Repeating: ("test_everything_that_can_be_chosen_is_listed_once", {"what": "images"}),
    Unsorted: ("test_choices_are_listed_in_the_same_order_every_time", {"what": "images"}),
    Curtailed: ("test_choices_do_not_end_with_the_first_page", {"what": "images"}),
    Soothing: ("test_a_list_that_fails_is_an_error_and_no_shorter_list", {"what": "images", "fault": "BEFORE"}),
    Nameless: ("test_a_provider_id_has_its_form_and_stays", {}),
}


class MutantHarness(SimulatedHarness):
    kind: ClassVar[type[Simulated]]

    async def connect(self) -> Any:
        return self.kind(self.datacentre, ACCOUNT, self.section, self._weather)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda kind: kind.__name__)
async def test_a_provider_that_breaks_a_rule_is_noticed(
    mutant: type[Simulated], caplog: pytest.LogCaptureFixture
) -> None:
    name, more = MUTANTS[mutant]
    given: dict[str, Any] = {"fault": Fault[more["fault"]]} if "fault" in more else {}
    given |= {"what": more["what"]} if "what" in more else {}
    given |= {"caplog": caplog} if "caplog" in more else {}
    run: Callable[..., Any] = getattr(ConformanceKit(), name)

    async def tried(kind: type[Simulated]) -> None:
        harness = MutantHarness()
        harness.kind = kind  # type: ignore[misc]
        try:
            await run(harness, **given)
        finally:
            harness.datacentre.close()

    await tried(Simulated)
    with pytest.raises((AssertionError, OSError, pytest.fail.Exception)):
        await tried(mutant)
