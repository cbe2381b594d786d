"""`mlxconfig -d PCI -e query`: default, current and next boot of every firmware parameter."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lab.fleet.model import HostModel, Nic, is_mlx5
from lab.fleet.render.base import Said

TABLES = Path(__file__).parents[1]
STAR = "The '*' shows parameters with next value different from default/current value."
# What the tool says about a function that it may not open, such as a virtual one.
CLOSED = "-E- Failed to open the device\n"
CLOSED_CODE = 3
# Shown while ADVANCED_PCI_SETTINGS is in force, where somebody switched that on: name -> default.
ADVANCED = {"MAX_ACC_OUT_READ": "0", "FORCE_ETH_PCI_SUBCLASS": "False(0)"}


class Row(NamedTuple):
    """A parameter as the tables have it."""

    name: str
    default: str
    current: str


class Parameter(NamedTuple):
    """A parameter of one card."""

    name: str
    default: str
    current: str
    following: str

    @property
    def starred(self) -> bool:
        """Next differs from default or from current, or current from default."""
        return self.following not in (self.default, self.current) or self.default != self.current


class Layout(NamedTuple):
    """Widths of one generation of the tool; values follow each other with a blank between."""

    label: int
    lead: int  # between the star's column and the name
    name: int
    value: int
    last: int
    heading: int  # of "Next Boot"


OLD = Layout(16, 8, 36, 15, 16, 9)
MIDDLE = Layout(20, 7, 44, 20, 20, 9)
CURRENT = Layout(20, 7, 48, 33, 33, 33)


def layout_of(release: str) -> Layout:
    """4.31.0-149 -> the middle one. Where each begins is known only about."""
    major, minor = (int(part) for part in release.split(".")[:2])
    return OLD if (major, minor) < (4, 20) else MIDDLE if (major, minor) < (4, 33) else CURRENT


# ---- the tables


def _lines(name: str) -> list[list[str]]:
    text = (TABLES / name).read_text("utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


@lru_cache(maxsize=16)
def _usual(parameter_set: str) -> tuple[Row, ...]:
    """The rows of parameters.txt, changed by what the set says."""
    rows = [Row(*words) for words in _lines("parameters.txt")]
    if not parameter_set:
        return tuple(rows)
    for words in _lines(f"parameters-{parameter_set}.txt"):
        if words[0] == "without":
            rows = [row for row in rows if not any(fnmatchcase(row.name, w) for w in words[1:])]
        elif words[0] == "after":
            place = _place(rows, words[1])
            rows.insert(place + 1, Row(*words[2:]))
        else:
            rows[_place(rows, words[0])] = Row(*words)
    return tuple(rows)


def _place(rows: list[Row], name: str) -> int:
    return [row.name for row in rows].index(name)


@lru_cache(maxsize=16)
def _rows(parameter_set: str, ports: int) -> tuple[Row, ...]:
    """With a row per port, one after the other, where the parameter belongs to a port."""
    rows: list[Row] = []
    for row in _usual(parameter_set):
        if row.name == "NUM_OF_PF":
            rows.append(Row(row.name, str(ports), str(ports)))
            continue
        rows.append(row)
        if row.name.endswith("_P1"):
            rows += [row._replace(name=f"{row.name[:-1]}{port}") for port in range(2, ports + 1)]
    return tuple(rows)


def parameters(nic: Nic) -> tuple[Parameter, ...]:
    """Every parameter of a card."""
    return _parameters(nic.parameter_set, nic.ports, _frozen(nic.parameters))


def _frozen(changed: Mapping[str, tuple[str, str]]) -> tuple[tuple[str, str, str], ...]:
    return tuple((name, *values) for name, values in changed.items())


@lru_cache(maxsize=256)
def _parameters(
    parameter_set: str, ports: int, changed: tuple[tuple[str, str, str], ...]
) -> tuple[Parameter, ...]:
    new = {name: (current, following) for name, current, following in changed}
    found = []
    rows = list(_rows(parameter_set, ports))
    known = {row.name for row in rows}
    rows += [Row(n, value, value) for n, value in ADVANCED.items() if n in new and n not in known]
    for name, default, usual in rows:
        current, following = new.pop(name, (usual, usual))
        if current:  # '' = the firmware does not show it any more
            found.append(Parameter(name, default, current, following))
    if new:
        raise KeyError(f"no such firmware parameter here: {', '.join(new)}")
    return tuple(found)


# ---- the text


@lru_cache(maxsize=256)
def _table(
    parameter_set: str,
    ports: int,
    changed: tuple[tuple[str, str, str], ...],
    layout: Layout,
) -> str:
    start = 1 + layout.lead + layout.name
    width = layout.value + 1
    heading = "Configurations:".ljust(start) + "Default".ljust(width) + "Current".ljust(width)
    lines = [heading + "Next Boot".ljust(layout.heading)]
    rows = _parameters(parameter_set, ports, changed)
    for row in rows:
        name = f"{'*' if row.starred else ' '}{' ' * layout.lead}{row.name:{layout.name}}"
        values = f"{row.default:{layout.value}} {row.current:{layout.value}}"
        lines.append(f"{name}{values} {row.following:{layout.last}}")
    if any(row.starred for row in rows):
        lines.append(STAR)
    return "\n".join(lines) + "\n"


def answer(nic: Nic, address: str, layout: Layout = MIDDLE) -> str:
    """What the tool prints about one function of a card."""
    labels = (
        ("Device type:", nic.family),
        ("Name:", nic.part_number),
        ("Description:", nic.description),
        ("Device:", address),
    )
    head = "".join(f"{label:{layout.label}}{text:{layout.label}}\n" for label, text in labels)
    table = _table(nic.parameter_set, nic.ports, _frozen(nic.parameters), layout)
    return f"\nDevice #1:\n----------\n\n{head}\n{table}"


def _cards(host: HostModel) -> Iterator[tuple[str, Nic]]:
    """Every function of a card with the card; of a bond only one port has an RDMA device."""
    slots: dict[str, Nic] = {}
    for nic in filter(is_mlx5, host.nics):
        yield nic.address, nic
        slots.setdefault(nic.address[:-2], nic)
    for netdev in host.netdevs:
        card = slots.get(netdev.address[:-2])
        if card is not None and not isinstance(netdev, Nic):
            yield netdev.address, card


def commands(host: HostModel) -> Iterator[Said]:
    """One question per function."""
    layout = layout_of(host.firmware_tools)
    for address, nic in _cards(host):
        command = f"mlxconfig -d {address} -e query"
        if nic.firmware_access:
            yield Said(command, answer(nic, address, layout))
        else:
            yield Said(command, "", CLOSED, CLOSED_CODE)
