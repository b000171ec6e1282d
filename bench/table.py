"""Figures side by side, with the ratio to the peer."""

from __future__ import annotations


class Table:
    """Rows by name, a column per server. `better` says which way a figure should go.

    Where columns are different things, the first is not compared with the second."""

    def __init__(self, title: str, *, compares: bool = True) -> None:
        self._title, self._compares = title, compares
        self._rows: dict[str, dict[str, float]] = {}
        self._units: dict[str, tuple[str, bool]] = {}
        self._columns: list[str] = []

    def add(self, row: str, column: str, value: float, unit: str = "", *, more_is_better: bool = True) -> None:
        self._rows.setdefault(row, {})[column] = value
        self._units[row] = (unit, more_is_better)
        if column not in self._columns:
            self._columns.append(column)
        print(f"  {column}: {row}: {_text(value, unit)}", flush=True)

    def show(self) -> None:
        wide = self._compares and len(self._columns) > 1
        print(f"\n{self._title}")
        print(f"  {'':44}" + "".join(f"{column:>18}" for column in self._columns) + ("   advantage" if wide else ""))
        for row, values in self._rows.items():
            unit, more_is_better = self._units[row]
            cells = "".join(f"{_text(values.get(column), unit):>18}" for column in self._columns)
            print(f"  {row:44}{cells}" + (f"{self._advantage(values, more_is_better):>12}" if wide else ""))

    def _advantage(self, values: dict[str, float], more_is_better: bool) -> str:
        if len(values) < 2:
            return ""
        own, peer = (values[column] for column in self._columns[:2])
        if not own or not peer:
            return ""
        return f"{own / peer if more_is_better else peer / own:.1f}x"


def _text(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
    return f"{shown} {unit}".strip()
