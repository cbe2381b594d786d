"""`railwright diff`: what changed between two snapshots, folded, and what cannot be compared."""

import json
from typing import Any

from railwright.model.compare import Alike, Difference, Gap
from railwright.model.compare_roots import Change, Group
from railwright.nodes import fold
from railwright.report.change_words import Line, kind_of, lines_of, name_of, told
from railwright.report.console import plain
from railwright.report.screen import UNBROKEN, Screen, cut, number_of, wrapped
from railwright.report.status import exit_status
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-diff-1"
MOST_LINES = 40  # of changes on a terminal; a pipe gets all
MOST_NAMES = 4  # of things at which the same changed
WIDE = 24  # columns for machines; a longer set has a line of its own
_MANY = {"nic": "NICs", "gpu": "GPUs", "pcie_port": "PCIe ports", "pci_function": "PCI functions",
         "netdev": "network devices", "rdma_device": "RDMA devices", "port": "ports"}  # fmt: skip
_EXCLUDED = " (excluded: out of service)"
_SIDES = {"before": "before", "now": "now", "both": "in either snapshot"}


def diff_status(found: Difference, now: Snapshot) -> int:
    """1: something changed; 3: something could not be compared."""
    return exit_status(found=found.has_changes, unknown=found.is_incomplete, snapshot=now)


# ---- for people


def _by_machines(found: Difference) -> dict[tuple[str, ...], list[list[Line]]]:
    """Machines -> their changes; the same change of several things together."""
    at: dict[tuple[str, str, str], list[str]] = {}
    lines: dict[tuple[str, str, str], Line] = {}
    for alike in found.alike:
        for line in lines_of(alike):
            key = (line.kind, line.thing, line.text)
            at.setdefault(key, []).extend(alike.targets)
            known = lines.setdefault(key, line)
            lines[key] = max(known, line, key=lambda one: one.more)
    folded: dict[tuple[str, ...], dict[tuple[str, str], list[Line]]] = {}
    for key, line in lines.items():
        targets = tuple(sorted(set(at[key])))
        folded.setdefault(targets, {}).setdefault((line.kind, line.text), []).append(line)
    ordered = sorted(folded, key=lambda names: (names[0], len(names)))
    return {names: list(folded[names].values()) for names in ordered}


def _one_line(same: list[Line]) -> str:
    """NIC 0000:5b:00.0 (mlx5_3, enp91s0np0) gone."""
    first = same[0]
    more = max(line.more for line in same)
    hang = f"{UNBROKEN * 2}[+{more:,}]" if more else ""
    if len(same) == 1:
        whole = first.text in ("gone", "appeared")
        said = f"{first.thing}{' ' if whole else ': '}{first.text}" if first.thing else first.text
        return f"{said}{hang}"
    names = ", ".join(line.short for line in same[:MOST_NAMES])
    names += ", …" if len(same) > MOST_NAMES else ""
    return f"{len(same)} {_MANY.get(first.kind, first.kind)} ({names}): {first.text}{hang}"


def change_rows(found: Difference) -> list[tuple[str, str]]:
    """(machines, what changed there), causes first, dependants as a number."""
    return [
        (fold(targets), _one_line(same).replace(UNBROKEN, " "))
        for targets, changes in _by_machines(found).items()
        for same in changes
    ]


def _print_changes(screen: Screen, found: Difference) -> None:
    rows: list[tuple[str, str]] = []
    for targets, changes in _by_machines(found).items():
        name = fold(targets)
        for same in changes:
            rows.append((name, _one_line(same)))
            name = ""
    column = max([len(name) for name, _ in rows if len(name) <= WIDE], default=0)
    most = MOST_LINES if screen.is_terminal else len(rows)
    for name, text in rows[:most]:
        if len(name) > column:
            screen.line(cut(screen, f"  {name}"))
        begin = f"  {'' if len(name) > column else name:{column}}  "
        first, *more = wrapped(screen, text, len(begin))
        screen.line(begin + first.lstrip())
        for line in more:
            screen.line(line)
    if len(rows) > most:
        screen.line(f"  and {len(rows) - most:,} more: railwright diff … | cat", "dim")
    if any(f"{UNBROKEN}[+" in text for _, text in rows):
        screen.line("  [+N]: N changes depend on this one; --all lists them", "dim")


def _print_all(screen: Screen, found: Difference) -> None:
    """Every cause with all that follows from it."""
    for alike in found.alike:
        screen.line(cut(screen, f"  {fold(alike.targets)}"))
        for caused in alike.caused:
            thing = alike.things[caused.group.thing]
            kind = kind_of(thing, caused.group.lead.table)
            screen.line(cut(screen, f"    {name_of(thing, kind) or kind}"))
            for group in (caused.group, *caused.following):
                for change in group.changes:
                    at = f"{plain(group.thing)}  " if group.thing != caused.group.thing else ""
                    screen.line(cut(screen, f"      {at}{told(change)}"))


def _gap_text(gap: Gap) -> str:
    where = _SIDES[gap.side]
    if gap.what == "machine":
        return f"not reached in either snapshot{_EXCLUDED if gap.is_excluded else ''}"
    word = "unknown" if gap.is_value else "not answered"
    return f"{plain(gap.what)} {word} {where}"


def _print_gaps(screen: Screen, gaps: list[Gap]) -> None:
    by_targets: dict[tuple[str, tuple[str, ...], bool, bool], list[Gap]] = {}
    for gap in gaps:
        key = (gap.side, tuple(gap.targets), gap.is_value, gap.what == "machine")
        by_targets.setdefault(key, []).append(gap)
    for (side, targets, is_value, _), same in by_targets.items():
        text = _gap_text(same[0])
        if len(same) > 1:
            names = ", ".join(plain(gap.what) for gap in same)
            text = f"{names} {'unknown' if is_value else 'not answered'} {_SIDES[side]}"
        line = f"  {text}: {number_of(len(targets), 'machine')}  {fold(targets)}"
        screen.line(cut(screen, line), "yellow")


def print_changes(
    screen: Screen, before: Snapshot, now: Snapshot, found: Difference, *, unfolded: bool = False
) -> None:
    """The difference: machines, changes, and what was not compared."""
    count = len({name for alike in found.alike for name in alike.targets})
    said = f"{number_of(count, 'machine')} of {found.targets:,} changed" if count else ""
    screen.heading(f"{before.title} -> {now.title}", f": {said}" if said else "")
    for old, new, targets, away in found.moved:
        became = f"{old} -> {new}{_EXCLUDED if away else ''}"
        said = f"  {number_of(len(targets), 'machine')}  {became}  {fold(targets)}"
        screen.line(cut(screen, said), "yellow")
    if unfolded:
        _print_all(screen, found)
    else:
        _print_changes(screen, found)
    if not (found.has_changes or found.moved):
        screen.line("  No change in what could be compared.")
    if found.gaps:
        screen.line()
        screen.heading("Not compared")
        _print_gaps(screen, found.gaps)


# ---- for programs


def _side(snapshot: Snapshot) -> dict[str, object]:
    return {"name": snapshot.name, "started": snapshot.run.get("started")}


def _subject(alike: Alike, target: str, group: Group) -> dict[str, Any]:
    thing = alike.things[group.thing]
    return {
        "kind": kind_of(thing, group.lead.table),
        "name": f"{target}:{thing.thing}" if thing.thing else target,
        "pci": thing.pci or None,
        "device": thing.device or None,
        "netdev": thing.netdev or None,
    }


def _change(change: Change, group: Group) -> dict[str, Any]:
    return {
        "fact": group.fact.removeprefix("="),
        "table": change.table,
        "row": change.what,
        "column": change.column or None,
        "change": change.kind.partition(",")[0],
        "before": change.old,
        "after": change.new,
    }


def _all_changes(found: Difference) -> list[dict[str, Any]]:
    return [
        {
            "target": target,
            "subject": _subject(alike, target, group),
            **_change(change, group),
            "depends_on": None
            if change is caused.group.lead
            else {
                "subject": _subject(alike, target, caused.group)["name"],
                "fact": caused.group.fact.removeprefix("="),
            },
        }
        for alike in found.alike
        for target in alike.targets
        for caused in alike.caused
        for group in (caused.group, *caused.following)
        for change in group.changes
    ]


def changes_json(before: Snapshot, now: Snapshot, found: Difference, status: int) -> str:
    """The same for programs, unfolded."""
    whole = {
        "format": FORMAT,
        "before": _side(before),
        "now": _side(now),
        "exit_status": status,
        "compared_targets": found.targets,
        "targets": [
            {"target": name, "before": old, "now": new, "excluded": away}
            for old, new, names, away in found.moved
            for name in names
        ],
        "changes": _all_changes(found),
        "not_compared": [
            {
                "what": gap.what,
                "missing": gap.side,
                "targets": gap.targets,
                "excluded": gap.is_excluded,
            }
            for gap in found.gaps
        ],
    }
    return json.dumps(whole, indent=1)
