"""The simulated data centre: its records of machines, which outlive the process."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import uuid
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from butler.errors import CapacityExhausted, MachineRejected
from kubekit.clock import Chance, Clock, SystemChance, SystemClock, fraction
from kubekit.errors import DataDamaged, DataVersion
from kubekit.server.store import inspection, private_files

from ..contract import MachineOrder, Power
from .assets import TABLE as _SHELF
from .assets import Assets
from .section import Knobs
from .traffic import Traffic
from .vm import Fate, Vm

NAME = "simulated"
_FORMAT = 1
_COLUMNS = ", ".join(Vm._fields)
_SELECT = f"SELECT {_COLUMNS} FROM vms ORDER BY number"  # noqa: S608 -- names of our own
_INSERT = f"INSERT INTO vms ({_COLUMNS}) VALUES ({', '.join('?' * len(Vm._fields))})"  # noqa: S608 -- the same
_TABLE = """
CREATE TABLE IF NOT EXISTS vms (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, account TEXT NOT NULL, name TEXT NOT NULL,
    token TEXT NOT NULL, cpu INTEGER NOT NULL, memory_mb INTEGER NOT NULL, disk_gb INTEGER NOT NULL,
    user_data TEXT NOT NULL, mac TEXT NOT NULL UNIQUE, address TEXT NOT NULL UNIQUE, created REAL NOT NULL,
    boots_at REAL NOT NULL, visible_at REAL NOT NULL, fate TEXT NOT NULL, fate_at REAL NOT NULL
) STRICT
"""

Listener = Callable[[Vm], None]


class DataCentre:
    """Machines of all accounts, in a file or, without a path, in memory.

    What a machine does follows from the clock, so that booting and going cost no write. A crash of the process loses
    nothing; one of the whole computer may lose the last moments. With `fast`, the delays of all sections count as
    none. Raises DataDamaged, DataVersion."""

    def __init__(
        self, path: Path | None = None, *, clock: Clock | None = None, chance: Chance | None = None, fast: bool = False
    ) -> None:
        self.clock, self.chance, self.fast = clock or SystemClock(), chance or SystemChance(), fast
        self.traffic = Traffic()
        self._database = _opened(path)
        self.shelf = Assets(self._database, self.clock)
        self._vms: dict[str, Vm] = {}
        self._by_token: dict[tuple[str, str], list[str]] = {}
        self._addresses: set[str] = set()
        self._last: dict[IPv4Network, int] = {}
        """The last address that was given out, by network: those that were given back rest for a while."""
        self._listeners: list[Listener] = []
        for row in self._database.execute(_SELECT):
            self._keep(Vm(*row))
        self._number = self._highest_number()

    def close(self) -> None:
        self._database.close()

    def create(self, account: str, order: MachineOrder, knobs: Knobs) -> Vm:
        """A machine for an order; the one there is for its token. Raises CapacityExhausted, MachineRejected."""
        known = self.of_token(account, order.token)
        if known and not knobs.section.ignores_tokens:
            return known[0]
        self._check_size(order, knobs)
        self._check_room(account, order, knobs)
        address = self._free_address(order, knobs.network)
        now = self._now()
        fate, fate_at = self._fate(now, knobs)
        number = self._number + 1
        vm = Vm(
            number=number,
            id=str(uuid.UUID(bytes=self.chance.bytes(16), version=4)),
            account=account,
            name=order.name,
            token=order.token,
            cpu=order.cpu,
            memory_mb=order.memory_mb,
            disk_gb=order.disk_gb,
            user_data=hashlib.sha256(order.user_data.encode()).hexdigest(),
            mac=_mac(number),
            address=address,
            created=now,
            boots_at=now + knobs.boot,
            visible_at=now + knobs.visibility,
            fate=fate.value,
            fate_at=fate_at,
        )
        self._database.execute(_INSERT, vm)
        self._number = number
        self._keep(vm)
        return vm

    def delete(self, account: str, token: str, delay: float) -> None:
        """Let every machine of a token go, `delay` seconds from now unless that is under way already."""
        now = self._now()
        for vm_id in list(self._by_token.get((account, token), ())):
            vm = self._vms[vm_id]
            if delay <= 0:
                self._drop(vm)
            elif vm.exists(now) and vm.fate != Fate.DELETED.value:
                self._replace(vm._replace(fate=Fate.DELETED.value, fate_at=now + delay))

    def of_token(self, account: str, token: str) -> list[Vm]:
        """The machines of a token, visible or not; more than one only where tokens are ignored."""
        now = self._now()
        found = [self._vms[vm_id] for vm_id in self._by_token.get((account, token), ())]
        for vm in found:
            if not vm.exists(now):
                self._drop(vm)
        return [vm for vm in found if vm.exists(now)]

    def of_account(self, account: str) -> list[Vm]:
        now = self._now()
        return [vm for vm in self._vms.values() if vm.account == account and vm.exists(now)]

    def machines(self) -> list[Vm]:
        """All that exist."""
        now = self._now()
        return [vm for vm in self._vms.values() if vm.exists(now)]

    def next_change(self, account: str, token: str) -> float | None:
        """In how many seconds a machine of a token will look different by itself; None when none ever will."""
        now = self._now()
        found = [self._vms[vm_id].next_change(now) for vm_id in self._by_token.get((account, token), ())]
        return min((moment - now for moment in found if moment is not None), default=None)

    def uptime(self, account: str, token: str) -> float:
        """For how many seconds a machine of a token has been running; 0 when none is."""
        now = self._now()
        running = [vm for vm in self.of_token(account, token) if vm.power(now) is Power.RUNNING]
        return max((now - vm.boots_at for vm in running), default=0.0)

    def lose(self, vm_id: str) -> None:
        """Let a machine disappear."""
        self._befall(vm_id, Fate.LOST)

    def stop(self, vm_id: str) -> None:
        """Switch a machine off."""
        self._befall(vm_id, Fate.STOPPED)

    def start(self, vm_id: str) -> None:
        """Switch a machine on again; it boots as long as it did the first time."""
        vm, now = self._vms[vm_id], self._now()
        again = vm._replace(fate=Fate.NONE.value, fate_at=0.0, boots_at=now + vm.boots_at - vm.created, created=now)
        self._change(again)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell of machines that anyone loses, stops or starts; not of what the clock does. Answers how to end it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _befall(self, vm_id: str, fate: Fate) -> None:
        self._change(self._vms[vm_id]._replace(fate=fate.value, fate_at=self._now()))

    def _change(self, vm: Vm) -> None:
        self._replace(vm)
        for listener in list(self._listeners):
            listener(vm)

    def _fate(self, now: float, knobs: Knobs) -> tuple[Fate, float]:
        drawn = fraction(self.chance) * 100
        if drawn < knobs.section.stuck_percent:
            return Fate.STUCK, 0.0
        if drawn < knobs.section.stuck_percent + knobs.section.lost_percent:
            return Fate.LOST, now + knobs.lost_after
        return Fate.NONE, 0.0

    def _check_size(self, order: MachineOrder, knobs: Knobs) -> None:
        """Refuse what will never fit."""
        section = knobs.section
        if min(order.cpu, order.memory_mb, order.disk_gb) < 1:
            raise MachineRejected(NAME, order.name, "cores, memory and disk must each be at least 1")
        if section.capacity_cpu is not None and order.cpu > section.capacity_cpu:
            raise MachineRejected(NAME, order.name, f"{order.cpu} cores of {section.capacity_cpu} there are")
        if section.capacity_memory_mb is not None and order.memory_mb > section.capacity_memory_mb:
            raise MachineRejected(NAME, order.name, f"{order.memory_mb} MiB of {section.capacity_memory_mb} there are")

    def _check_room(self, account: str, order: MachineOrder, knobs: Knobs) -> None:
        section = knobs.section
        limits = (section.capacity, section.capacity_cpu, section.capacity_memory_mb)
        if all(limit is None for limit in limits):
            return
        machines = self.of_account(account)
        wanted = (
            ("machines", len(machines) + 1),
            ("cores", sum(vm.cpu for vm in machines) + order.cpu),
            ("MiB of memory", sum(vm.memory_mb for vm in machines) + order.memory_mb),
        )
        for (unit, amount), limit in zip(wanted, limits, strict=True):
            if limit is not None and amount > limit:
                raise CapacityExhausted(NAME, order.name, f"there is room for {limit} {unit}, and all are taken")

    def _free_address(self, order: MachineOrder, network: IPv4Network) -> str:
        """One after the other, leaving out the network's own, its gateway and its broadcast address."""
        first, count = int(network[0]) + 2, network.num_addresses - 3
        begin = self._last.get(network, -1) + 1
        for step in range(max(count, 0)):
            place = (begin + step) % count
            address = str(IPv4Address(first + place))
            if address not in self._addresses:
                self._last[network] = place
                return address
        raise CapacityExhausted(NAME, order.name, f"every address of {network} is taken")

    def _keep(self, vm: Vm) -> None:
        self._vms[vm.id] = vm
        self._addresses.add(vm.address)
        self._by_token.setdefault((vm.account, vm.token), []).append(vm.id)

    def _replace(self, vm: Vm) -> None:
        self._database.execute(
            "UPDATE vms SET fate = ?, fate_at = ?, boots_at = ?, created = ? WHERE id = ?",
            (vm.fate, vm.fate_at, vm.boots_at, vm.created, vm.id),
        )
        self._vms[vm.id] = vm

    def _drop(self, vm: Vm) -> None:
        self._database.execute("DELETE FROM vms WHERE id = ?", (vm.id,))
        del self._vms[vm.id]
        self._addresses.discard(vm.address)
        ids = self._by_token[vm.account, vm.token]
        ids.remove(vm.id)
        if not ids:
            del self._by_token[vm.account, vm.token]

    def _highest_number(self) -> int:
        row = self._database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vms'").fetchone()
        return int(row[0]) if row else 0

    def _now(self) -> float:
        return self.clock.now().timestamp()


def check_file(path: Path) -> None:
    """Raises DataDamaged, and leaves every byte as it is, when a file cannot be used. For whoever holds its directory.

    One that is not there will be made."""
    if not path.exists() or not path.stat().st_size:
        return
    try:
        with inspection.viewing(path) as connection:
            defect = inspection.defect(connection)
    except sqlite3.DatabaseError as error:
        raise _damaged(path, error) from error
    if defect:
        raise _damaged(path, defect)


def _mac(number: int) -> str:
    """An address of the range that is free for everyone's own use."""
    return ":".join(f"{byte:02x}" for byte in b"\x02\xb7" + number.to_bytes(4, "big"))


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        # SQLite gives its other files the same rights.
        os.close(private_files.open_private(path, os.O_RDWR))
    database = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        (found,) = database.execute("PRAGMA user_version").fetchone()
        if found not in (0, _FORMAT):
            raise DataVersion(f"{path}: format {found}, and this version understands {_FORMAT}")
        if not found:
            database.execute(_TABLE)
            database.execute(f"PRAGMA user_version = {_FORMAT}")
        database.execute(_SHELF)
    except sqlite3.DatabaseError as error:
        database.close()
        raise _damaged(path, error) from error
    return database


def _damaged(path: Path | None, problem: object) -> DataDamaged:
    return DataDamaged(f"{path}: {problem}; move it away to begin with an empty data centre")
