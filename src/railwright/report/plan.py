"""A plan for people: each change with why, what it stops and what undoes it. From the plan file."""

import json
import shlex
from collections.abc import Collection, Iterator
from typing import Any

from railwright.report.screen import Screen, cut, number_of, wrapped
from railwright.settings.words import EVENTS, TAKES_HOLD, WAY_BACK

LEFT = (
    ("held_back", "Held back: allow it to have it in the plan"),
    ("refused", "Refused"),
    ("undecided", "No value: neither the site file nor a document says what it is to be"),
)
OWNED = "For the owners of these values"
MOST_PLACES = 3  # of what only hands can mend
MOST_FULL = 4  # changes that are printed in full
MOST_LINES = 20  # changes that get a line each
_NOTHING = ("nothing", "new jobs")


def step_words(step: dict[str, Any]) -> str:
    """A step in one line."""
    if "argv" in step:
        return shlex.join(step["argv"])
    if "patch" in step:
        return f"config apply-patch: {json.dumps(step['patch'])}"
    if "lines" in step:
        return "; ".join(step["lines"])
    content = step.get("text") or step.get("line")
    return f"{step['file']}: {content or 'as it was, ' + step.get('key', '')}"


def print_plan(screen: Screen, plan: dict[str, Any], numbers: Collection[int] = ()) -> None:
    """All of it, folded as far as it is long; or the changes of these numbers, in full."""
    if numbers:
        for change in plan["changes"]:
            if change["number"] in numbers:
                _print_change(screen, change)
        return
    against = f"the profile {plan['profile']} " + (
        f"of {plan['site']}" if plan["site"] else "without a site file"
    )
    screen.heading(f"Plan for snapshot {plan['snapshot']}", f", against {against}")
    for line in head_lines(plan):
        screen.line(line)
    _print_totals(screen, plan["totals"])
    _print_changes(screen, [one for one in plan["changes"] if not one["after_restart"]], plan)
    _print_restarts(screen, plan)
    _print_changes(screen, [one for one in plan["changes"] if one["after_restart"]], plan)
    is_short = len(plan["changes"]) <= MOST_FULL
    for name, words in LEFT:
        (_print_left if is_short else _print_left_short)(screen, words, plan[name])
    _print_owned(screen, plan["render_for"])
    _print_by_hand(screen, plan["by_hand"], MOST_PLACES if is_short else 0)


def _print_changes(screen: Screen, changes: list[dict[str, Any]], plan: dict[str, Any]) -> None:
    """In full, or a line for each change, or for each setting: a plan is to fit on a screen."""
    if len(plan["changes"]) <= MOST_FULL:
        for change in changes:
            screen.line()
            _print_change(screen, change)
        return
    if changes:
        screen.line()
    if len(plan["changes"]) <= MOST_LINES:
        for one in changes:
            what = f"{one['number']:>3}  {one['setting']}  {one['from']} -> {one['to']}"
            where = f"{one['subjects']:,}  {one['disturbs']}  {one['hosts']}"
            screen.line(cut(screen, f"{what}  {where}"))
        return
    by_setting: dict[str, list[dict[str, Any]]] = {}
    for one in changes:
        by_setting.setdefault(one["setting"], []).append(one)
    for name, group in by_setting.items():
        numbers = fold_numbers([one["number"] for one in group])
        count = sum(one["subjects"] for one in group)
        said = group[0]
        values = f"{said['from']} -> {said['to']}" if len(group) == 1 else f"{len(group)} changes"
        screen.line(cut(screen, f"{numbers:>5}  {name}  {values}  {count:,}  {said['disturbs']}"))


def fold_numbers(numbers: list[int]) -> str:
    """3-5, as numbers of one setting follow each other."""
    first, last = numbers[0], numbers[-1]
    return str(first) if first == last else f"{first}-{last}"


def head_lines(plan: dict[str, Any]) -> Iterator[str]:
    """What it is, in two lines."""
    changes = plan["changes"]
    subjects = sum(one["subjects"] for one in changes)
    allowed = f", allowed: {', '.join(plan['allow'])}" if plan["allow"] else ""
    kinds = number_of(len(changes), "kind")
    yield f"Path {plan['path']}{allowed}: {number_of(subjects, 'change')} of {kinds}"
    stops: dict[str, int] = {}
    for one in changes:
        if one["disturbs"] not in _NOTHING:
            stops[one["disturbs"]] = stops.get(one["disturbs"], 0) + one["subjects"]
    said = ", ".join(f"{word} ({count:,})" for word, count in stops.items())
    if changes:
        yield f"Disturbs: {said or 'nothing'}"


def _print_totals(screen: Screen, totals: list[dict[str, Any]]) -> None:
    """What the paths would come to, side by side."""
    rows = [_TOTALS, *(_total(one) for one in totals)]
    if all(row[1] == "0" for row in rows[1:]):
        return
    wide = [max(len(row[at]) for row in rows) for at in range(len(_TOTALS))]
    screen.line()
    for number, row in enumerate(rows):
        cells = [
            row[0].ljust(wide[0]),
            *(c.rjust(w) for c, w in zip(row[1:], wide[1:], strict=True)),
        ]
        screen.line(cut(screen, "  ".join(cells)), "" if number else "dim")


_TOTALS = ("path", "changes", "to drain", "resets", "reboots", "switches", "wins back")


def _total(one: dict[str, Any]) -> tuple[str, ...]:
    more = " or more" if one["unpriced"] and one["gbps"] else ""
    gbps = f"{one['gbps']:,.0f} Gb/s{more}" if one["gbps"] else "not priced"
    numbers = (one[n] for n in ("changes", "drained_hosts", "resets"))
    reboots = one["reboots"] + one["power_cycles"]
    counted = (f"{n:,}" for n in (*numbers, reboots, one["switches"]))
    return (one["path"], *counted, gbps if one["changes"] else "-")


def _print_restarts(screen: Screen, plan: dict[str, Any]) -> None:
    """What is restarted, once for all that waits for it, and what is put back afterwards."""
    if not plan["restarts"]:
        return
    screen.line()
    screen.heading("Then, once for all of these")
    for one in plan["restarts"]:
        what = restart_words(one)
        screen.line(
            cut(screen, f"    {what}  {number_of(one['machines'], 'host')}  {one['hosts']}")
        )
        for blind in one["blind"]:
            said = f"first, without knowing its value: {blind['setting']} -> {blind['to']}"
            screen.line(cut(screen, f"        {said}"))
        for step in (*(s for b in one["blind"] for s in b["steps"]), *one["steps"]):
            screen.line(cut(screen, f"        {step_words(step)}"))
        waits = ", ".join((*one["for"], *one["found_by"]))
        for line in wrapped(screen, f"for {waits}", 8):
            screen.line(line)
    if plan["again"]:
        settings = sorted({one["setting"] for one in plan["again"]})
        said = f"read again afterwards, and written again where it differs: {', '.join(settings)}"
        for line in wrapped(screen, said, 4):
            screen.line(line)
    for one in plan["lost"]:
        line = f"    look afterwards: {one['setting']}, {one['why']}  {one['hosts']}"
        screen.line(cut(screen, line))


def restart_words(one: dict[str, Any]) -> str:
    """What is restarted."""
    return " ".join(filter(None, (_RESTARTS[one["kind"]], one["names"].get("pci", ""))))


_RESTARTS = {
    "firmware_reset": "reset the firmware of",
    "reboot": "reboot (where the BMC keeps cards powered: power cycle)",
    "power_cycle": "power cycle",
}


def _print_change(screen: Screen, change: dict[str, Any]) -> None:
    head = f"{change['number']:>2}  {change['setting']}  {change['from']} -> {change['to']}"
    where = f"{number_of(change['subjects'], 'place')}  {change['hosts']}"
    screen.heading(head, cut(screen, f"  {where}", len(head)))
    screen.line(f"    {change['title']}")
    takes_hold, _ = TAKES_HOLD[change["takes_hold"]]
    remark = f" ({change['remark']})" if change["remark"] else ""
    peers = "the site file names none; most like machines have it"
    facts = (
        *((("value", peers),) if change["by_peers"] else ()),
        ("found by", ", ".join(change["found_by"])),
        ("counts", takes_hold),
        ("disturbs", f"{change['disturbs']}{remark}"),
        ("lasts", _lasts(change)),
        ("way back", WAY_BACK[change["way_back"]]),
        ("gain", _gain(change)),
        *(("hazard", one) for one in change["hazards"]),
    )
    for name, text in facts:
        lines = wrapped(screen, text, 14)
        screen.line(f"    {name:<10}{lines[0].strip()}")
        for line in lines[1:]:
            screen.line(line)
    first = change["machines"][0]
    more = len(change["machines"]) - 1
    for name, steps in (("do", first["steps"]), ("undo", first["undo"])):
        for number, step in enumerate(steps):
            label = name if number == 0 else ""
            screen.line(cut(screen, f"    {label:<10}{step_words(step)}"))
    if more:
        screen.line(f"{' ' * 14}and {number_of(more, 'other')} like it", "dim")


def _gain(change: dict[str, Any]) -> str:
    """By arithmetic, or as somebody published it; a gain that nobody knows is not claimed."""
    gbps = change["gbps"]
    known = [f"{gbps:,.1f} Gb/s that its findings cost"] if gbps else []
    return "; ".join([*known, *filter(None, [change["gain"]])]) or "no published gain"


def _lasts(change: dict[str, Any]) -> str:
    """How long: what is set at run time is gone after a boot, unless something sets it again."""
    lost = [EVENTS[event] for event in change["lost_at"]]
    if not lost:
        return "for good"
    return f"until {' or '.join(lost)}"


def _print_left(screen: Screen, words: str, left: list[dict[str, Any]]) -> None:
    if not left:
        return
    screen.line()
    screen.heading(words)
    for one in left:
        change = f"{one['from'] or 'not read'} -> {one['to'] or '?'}"
        screen.line(
            cut(screen, f"    {one['setting']}  {change}  {one['subjects']:,}  {one['hosts']}")
        )
        if one["why"]:
            for line in wrapped(screen, one["why"], 8):
                screen.line(line)


def _print_left_short(screen: Screen, words: str, left: list[dict[str, Any]]) -> None:
    """A line for each setting and reason."""
    if not left:
        return
    screen.line()
    screen.heading(words)
    folded: dict[tuple[str, str], int] = {}
    for one in left:
        key = (one["setting"], one["why"])
        folded[key] = folded.get(key, 0) + one["subjects"]
    for (name, why), count in folded.items():
        screen.line(cut(screen, f"    {name}  {count:,}  {why}"))


def _print_owned(screen: Screen, owned: list[dict[str, Any]]) -> None:
    if not owned:
        return
    screen.line()
    screen.heading(OWNED)
    for one in owned:
        screen.line(cut(screen, f"    {one['owner']}: {asked_words(one)}  {one['hosts']}"))


def asked_words(one: dict[str, Any]) -> str:
    """What an owner is asked to set."""
    return f"{one['setting']}  {one['from'] or 'not read'} -> {one['to']}"


def _print_by_hand(screen: Screen, left: list[dict[str, Any]], most_places: int) -> None:
    if not left:
        return
    screen.line()
    screen.heading("No setting mends these")
    for one in left:
        screen.line(cut(screen, f"    {one['severity']:<9} {one['rule']}  {one['hosts']}"))
        for place in one["places"][:most_places]:
            screen.line(cut(screen, f"              {place}"))
        more = len(one["places"]) - most_places
        if most_places and more > 0:
            screen.line(f"              and {more:,} more", "dim")
