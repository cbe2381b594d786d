"""What changed, in words: the thing, what became of it, and how much hangs on that."""

from typing import NamedTuple

from railwright.model.compare import Alike
from railwright.model.compare_plan import plan_of
from railwright.model.compare_roots import PRESENT, Caused, Change, Group, Thing
from railwright.schema.table import tables
from railwright.text import plain

SHOWN = 3  # of many values of one fact
_RENAMED = {"device": "RDMA device", "netdev": "network device"}
_GPU_CLASSES, _GPU_MAKERS = ("03", "12"), ("10de", "1002", "8086")
_BY_CLASS = {"02": "nic", "06": "pcie_port"}
_KINDS = {
    "nic": "NIC", "gpu": "GPU", "pcie_port": "PCIe port", "pci_function": "PCI function",
    "netdev": "network device", "rdma_device": "RDMA device", "port": "port",
}  # fmt: skip


class Line(NamedTuple):
    """One change as it is printed; equal ones are folded."""

    kind: str  # of the thing
    thing: str  # in words, '' = the machine
    short: str  # the same among others
    text: str
    more: int  # changes that hang on it and are not shown


def kind_of(thing: Thing, table: str) -> str:
    """nic, gpu, ...; of a name that no PCI function has, what its table speaks of."""
    if not thing.thing:
        return thing.machine
    if thing.machine == "switch":
        return "port"
    if not thing.pci and table in tables():
        named = plan_of(tables()[table]).kind
        return {"device": "rdma_device", "netdev": "netdev"}.get(named, "pci_function")
    of_gpus = thing.pci_class[:2] in _GPU_CLASSES and thing.vendor in _GPU_MAKERS
    return "gpu" if of_gpus else _BY_CLASS.get(thing.pci_class[:2], "pci_function")


def name_of(thing: Thing, kind: str) -> str:
    """NIC 0000:5b:00.0 (mlx5_3, enp91s0np0)."""
    if not thing.thing:
        return ""
    names = ", ".join(plain(name) for name in (thing.device, thing.netdev) if name)
    said = f"{_KINDS[kind]} {plain(thing.pci or thing.thing)}"
    return f"{said} ({names})" if names else said


def _value(value: str | None) -> str:
    return "unknown" if value is None else plain(value) if value else "''"


_UP = ("is_up", "admin_up", "carrier", "link_detected")
_ONE_PORT = ("rdma_port", "rdma_link", "verbs_port", "roce_tos")


def _row(change: Change) -> str:
    """The row of a thing, as people write it; the first port of a device is not named."""
    if change.table in _ONE_PORT:
        return "" if change.what == "1" else f"port {plain(change.what)}"
    if change.table != "nic_parameter":
        return plain(change.what)
    name, port, element = ([*change.what.split(" "), "", ""])[:3]
    behind = "" if element in ("-1", "") else f"[{element}]"
    return plain(f"{name}{'' if port in ('0', '') else f'_P{port}'}{behind}")


def _word(change: Change, value: str | None) -> str:
    if value not in ("true", "false"):
        return _value(value)
    words = ("up", "down") if change.column in _UP else ("on", "off")
    return words[0] if value == "true" else words[1]


def _became(change: Change) -> str:
    """9000 -> 1500; of a row gone, appeared."""
    if not change.column:
        return change.kind.partition(",")[0]
    said = f"{_word(change, change.old)} -> {_word(change, change.new)}"
    return f"{said}, pending" if change.column.startswith("next_") else said


def told(change: Change) -> str:
    """One change by itself, as its table has it."""
    name = ".".join(part for part in (change.table, change.column) if part)
    row = _row(change) or (f"to {plain(change.other)}" if change.other else "")
    became = "changed" if change.column == "boot_id" else _became(change)
    return f"{name}{f' {row}' if row else ''}: {became}"


def _events(lead: Change, count: int) -> str:
    more = int(lead.new or 0) - int(lead.old or 0)
    others = f" and {count - 1} other kinds" if count > 1 else ""
    return f"kernel log: {more} new {plain(lead.what)}{others}"


def _listed(changes: list[Change]) -> str:
    """Rows that became the same together, and of many the first."""
    rows: dict[str, list[str]] = {}
    for one in changes:
        names = rows.setdefault(_became(one), [])
        if _row(one) not in names:
            names.append(_row(one))
    said = []
    for became, names in rows.items():
        more = f" and {len(names) - 1} more" if len(names) > SHOWN else ""
        name = names[0] if more else ", ".join(name for name in names if name)
        said.append(f"{name}{more}: {became}" if name else became)
    return "; ".join(said[:SHOWN]) + (f"; {len(said) - SHOWN} more" if len(said) > SHOWN else "")


def text_of(group: Group) -> tuple[str, int]:
    """What became of it, and how many changes that tells."""
    lead = group.lead
    if lead.table == "kernel_message":
        return _events(lead, len(group.changes)), len(group.changes)
    if lead.column == "boot_id":
        return "rebooted", 1
    if group.fact == PRESENT:
        return lead.kind, 1
    alike = [
        one for one in group.changes
        if (one.table, one.column, one.is_known) == (lead.table, lead.column, True)
    ]  # fmt: skip
    if group.fact.startswith("="):
        return f"{lead.column}: {_listed(alike)}", len(alike)
    if group.fact == f"{lead.table} {lead.what}".rstrip():
        column = f" {lead.column}" if lead.column else ""
        row = f" {_row(lead)}" if lead.what else ""
        return f"{lead.table}{row}{column}: {_became(lead)}", 1
    return f"{group.fact} {_listed(alike)}", len(alike)


def _line(caused: Caused, things: dict[str, Thing]) -> Line:
    group = caused.group
    thing = things[group.thing]
    kind = kind_of(thing, group.lead.table)
    text, shown = text_of(group)
    short = plain(thing.device or thing.netdev or thing.thing)
    return Line(kind, name_of(thing, kind), short, text, caused.count - shown)


def _together(caused: list[Caused], what: str) -> Line:
    """Many changes of one kind at a machine as one line."""
    said = []
    for one in sorted(caused, key=lambda one: (len(one.group.lead.old or ""), one.group.lead.old)):
        lead = one.group.lead
        new_name = f"{plain(lead.old or '')} -> {plain(lead.new or '')}"
        text = text_of(one.group)[0].removeprefix(f"{what} ")
        said.append(new_name if lead.table == "name" else text)
    listed = ", ".join(said[:SHOWN]) + (", …" if len(said) > SHOWN else "")
    more = sum(one.count for one in caused) - len(caused)
    return Line("host", "", "", f"{len(caused)} {what}: {listed}", more)


def _bundle(one: Caused) -> str:
    """What many changes at a machine are called, where they are better told together."""
    lead = one.group.lead
    if lead.table == "name":
        return f"{_RENAMED[lead.column]}s renamed"
    if not one.group.thing and one.group.fact == f"{lead.table} {lead.what}":
        return lead.table
    return ""


def lines_of(alike: Alike) -> list[Line]:
    """Of one machine, or of several at which the same changed."""
    bundles: dict[str, list[Caused]] = {}
    for one in alike.caused:
        bundles.setdefault(_bundle(one), []).append(one)
    found: list[Line] = []
    done: set[str] = set()
    for one in alike.caused:
        name = _bundle(one)
        if not name or len(bundles[name]) <= (1 if "renamed" in name else SHOWN):
            found.append(_line(one, alike.things))
        elif name not in done:
            done.add(name)
            found.append(_together(bundles[name], name))
    return found
