"""The cabling plan: which port is to be connected with which, one cable per line of a CSV file."""

import csv
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from railwright.errors import UsageError, reason_of
from railwright.nodes import is_machine_name
from railwright.store.duck import quote

NEEDED = ("a_device", "a_port", "b_device", "b_port")
COLUMNS = (*NEEDED, "length_m", "rail", "plane")
_LONGEST_CABLE_M = 100_000  # more is a slip: no optic of a data centre reaches that far
_MOST_RAILS = 1024
Row = dict[str, Any]


class Cable(NamedTuple):
    """One line of the plan."""

    a: tuple[str, str]  # device and port
    b: tuple[str, str]
    length_m: float | None
    rail: int | None
    plane: int | None


class _Plan:
    """Says what is wrong by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines: dict[tuple[str, str], tuple[int, tuple[str, str]]] = {}

    def wrong(self, line: int, what: str, do: str = "") -> UsageError:
        do = do or f"Each line needs {', '.join(NEEDED)}; length_m, rail and plane are optional."
        return UsageError(
            f"{self._name}, line {line}: {what}",
            why="With an incomplete plan, correct cables would be reported as wrong.",
            do=do,
        )

    def header(self, line: int, names: list[str]) -> None:
        for name in NEEDED:
            if name not in names:
                near = get_close_matches(name, names, 1)
                hint = f"Did you mean {near[0]}? Rename it {name}." if near else ""
                raise self.wrong(line, f"the header has no column {name}", hint)
        twice = [name for name in COLUMNS if names.count(name) > 1]
        if twice:
            raise self.wrong(line, f"duplicate column {twice[0]}")

    def cable(self, line: int, cells: dict[str, str]) -> Cable:
        for name in NEEDED:
            if not cells.get(name):
                raise self.wrong(line, f"{name} is empty")
        for name in ("a_device", "b_device"):
            if not is_machine_name(cells[name]):
                raise self.wrong(line, f"{name}: {cells[name][:200]!r} is not a host name")
        a, b = (cells["a_device"], cells["a_port"]), (cells["b_device"], cells["b_port"])
        if a == b:
            raise self.wrong(line, f"both ends are {':'.join(a)}")
        for end, other in ((a, b), (b, a)):
            first = self._lines.setdefault(end, (line, other))
            if first[0] != line:
                what = f"{':'.join(end)} already has a cable, in line {first[0]}"
                if first[1] == other:
                    what = f"duplicate cable, already in line {first[0]}"
                raise self.wrong(line, what, "A port takes one cable: delete one of the two lines.")
        return Cable(
            a,
            b,
            self._number(line, "length_m", cells, float, _LONGEST_CABLE_M),
            self._number(line, "rail", cells, int, _MOST_RAILS),
            self._number(line, "plane", cells, int, _MOST_RAILS),
        )

    def _number(self, line: int, name: str, cells: dict[str, str], kind: type, most: int) -> Any:
        text = cells.get(name, "")
        if not text:
            return None
        try:
            value = kind(text)
        except ValueError:
            value = -1
        if not 0 <= value <= most:
            said = "metres, e.g. 3 or 2.5" if kind is float else "a whole number from 0"
            raise self.wrong(line, f"{name}: {text!r} is not valid", f"Write {said}.")
        return value


def read_cabling(text: str, name: str) -> tuple[Cable, ...]:
    """The cables of a plan; every mistake in it is told with its line."""
    plan = _Plan(name)
    lines = text.removeprefix("\ufeff").splitlines()  # spreadsheets write that mark
    first = next((line for line in lines if line.strip()), "")
    separator = ";" if ";" in first and "," not in first else ","
    names: list[str] = []
    cables = []
    # One row per line: a cell that goes on in the next line would put all numbers wrong.
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        if not names:
            names = cells
            plan.header(number, names)
        elif any(cells):
            cables.append(plan.cable(number, dict(zip(names, cells, strict=False))))
    if not names:
        raise plan.wrong(1, "the plan is empty")
    return tuple(cables)


def load_cabling(path: Path) -> tuple[Cable, ...]:
    """The plan of a site file."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the cabling plan {path}: {reason_of(error)}",
            do="Correct `cabling` in the site file (path relative to the site file's folder).",
        ) from error
    return read_cabling(text, str(path))


class Names:
    """The machines and ports of a snapshot by everything that a plan may call them."""

    def __init__(self, database: duckdb.DuckDBPyConnection, facts: Path) -> None:
        found = database.execute(f"SELECT target FROM {_file(facts, 'target')}").fetchall()
        self._machines: dict[str, str] = {}
        for (target,) in sorted(found, reverse=True):
            self._machines.setdefault(target.lower().split(".")[0], target)
        self._machines |= {target.lower(): target for (target,) in found}
        self._ports: dict[tuple[str, str], str] = {}
        rows = database.execute(
            f"SELECT target, name, min(port) FROM ("
            f"SELECT target, device AS name, port FROM {_file(facts, 'own_end')} UNION ALL "
            f"SELECT target, alias, port FROM {_file(facts, 'own_end')}) "
            "WHERE name <> '' GROUP BY ALL HAVING count(*) = 1"
        )
        while many := rows.fetchmany(10_000):
            self._ports |= {(target, name): port for target, name, port in many}

    def machine(self, name: str) -> str | None:
        """The target that a device of the plan is; None where it is none of this snapshot."""
        lower = name.lower()
        return self._machines.get(lower) or self._machines.get(lower.split(".")[0])

    def end(self, device: str, port: str) -> tuple[str, str]:
        """A port as `link_end` calls it, or as the plan does where nobody has read it."""
        target = self.machine(device) or device
        return target, self._ports.get((target, port), port)


def _file(facts: Path, table: str) -> str:
    return f"read_parquet({quote(str(facts / f'{table}.parquet'))})"


def planned_rows(names: Names, cables: tuple[Cable, ...]) -> Iterator[Row]:
    """Rows of planned_link: two per cable."""
    for cable in cables:
        more = {"length_m": cable.length_m, "rail": cable.rail, "plane": cable.plane}
        a, b = names.end(*cable.a), names.end(*cable.b)
        for (target, port), (peer, peer_port) in ((a, b), (b, a)):
            yield {"target": target, "port": port, "peer": peer, "peer_port": peer_port, **more}


def strangers(names: Names, cables: tuple[Cable, ...]) -> list[str]:
    """Devices of the plan that the snapshot does not know."""
    devices = {device for cable in cables for device, _ in (cable.a, cable.b)}
    return sorted(device for device in devices if names.machine(device) is None)
