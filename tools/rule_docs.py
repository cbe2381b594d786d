"""Pages about rules, profiles and the site file, written from the rules themselves."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import cast

from railwright.check.disturbance import remark_on, way_back_of
from railwright.check.rule import ANY, Rule, shipped
from railwright.check.sources import told
from railwright.intent.site import CLASS, FABRIC, NIC, OWNER, ROLE, SLOT, WAY_IN, profiles
from railwright.schema.table import intent_tables
from railwright.settings.words import WAY_BACK
from railwright.toml import load_toml
from tools.markdown import GENERATED, fence, head, lists_apart, row

COVERAGE = Path(__file__).with_name("coverage.toml")


def _link(rule: Rule, folder: str = "") -> str:
    return f"[{rule.id}]({folder}{rule.id}.md)"


def _index() -> Iterator[str]:
    yield "# Rules: everything that is judged"
    yield ""
    yield GENERATED.format("src/railwright/rules")
    yield ""
    yield "Each rule is one SELECT that gives every subject in scope a verdict: ok, fail, unknown"
    yield "or not applicable. Unknown is never ok. Rules marked *preview* rest on judgement and run"
    yield "only when they are selected. [Coverage](coverage.md) lists every proposal there was,"
    yield "[Repairs](../repairs.md) says what *disturbs* means."
    topics = sorted({rule.topic for rule in shipped().values()})
    for topic in topics:
        yield ""
        yield f"## {topic}"
        yield ""
        yield from head("rule", "fault", "severity", "of each", "disturbs", "formerly", "")
        for rule in shipped().values():
            if rule.topic == topic:
                marks = ["preview"] if rule.preview else []
                marks += ["two snapshots"] if rule.baseline else []
                kind = rule.subject.kind.replace("_", " ")
                said = (", ".join(rule.severities), kind, rule.disturbs, ", ".join(rule.aliases))
                yield row(_link(rule), rule.title, *said, ", ".join(marks))


def _page(rule: Rule) -> Iterator[str]:
    yield f"# {rule.id}: {rule.title}"
    yield ""
    yield GENERATED.format(f"src/railwright/rules/{rule.topic}/{rule.path.name}")
    yield ""
    kind = rule.subject.kind.replace("_", " ")
    marks = [f"severity {' or '.join(rule.severities)}", f"of each {kind}", f"since {rule.since}"]
    marks += [f"formerly {', '.join(rule.aliases)}"] if rule.aliases else []
    marks += [f"action {rule.action}" + (f" (`{rule.setting}`)" if rule.setting else "")]
    marks += ["preview: only when selected"] if rule.preview else []
    marks += ["needs an earlier snapshot (`--before`)"] if rule.baseline else []
    text = "; ".join(marks)
    yield text[0].upper() + text[1:] + "."  # old ids keep their capitals
    if rule.fix:
        yield from ("", f"Fix: `{rule.fix}`, with the device and the value of the finding.")
    yield from ("", _disturbs(rule))
    for title, text in (
        ("Why it matters", rule.why),
        ("What to do", rule.do),
        ("Exceptions", rule.wrong),
    ):
        yield from ("", f"## {title}", "", lists_apart(text))
    if rule.grades:
        yield from ("", "## How bad it is", "")
        yield from head("severity", "when")
        yield from (row(grade, rule.grades[grade]) for grade in rule.severities)
    if rule.cost:
        yield from ("", "## What it costs", "", rule.cost)
    yield from ("", "## What it rests on", "")
    yield from (f"- `{need}`" for need in rule.needs if need not in rule.unless)
    yield from (f"- `{need}`, unless {when}" for need, when in rule.unless.items())
    yield from (f"- `{name}`, which may be missing: {why}" for name, why in rule.uses.items())
    if rule.parameters:
        yield ""
        yield from head("parameter", "default", "unit", "why")
        for one in rule.parameters:
            yield row(f"`{one.name}`", str(one.default), one.unit, one.reason)
    if rule.implied_by:
        causes = ", ".join(
            "any other finding there" if name == ANY else _link(shipped()[name])
            for name in rule.implied_by
        )
        yield from ("", f"Shown under {causes} where that has failed at the same place.")
    yield from ("", "```sql", rule.sql, "```", "", "## Sources", "")
    for line in told(rule.sources):
        text = line.lstrip()
        # Four blanks a level: Python-Markdown takes fewer for the same level.
        yield " " * 2 * (len(line) - len(text)) + f"- {text}"


def _disturbs(rule: Rule) -> str:
    remark = remark_on(rule.setting, rule.disturbs)
    said = f"[Disturbs](../repairs.md): {rule.disturbs}{f' ({remark})' if remark else ''}."
    way_back = way_back_of(rule.setting)
    return f"{said} Way back: {WAY_BACK[way_back]}." if way_back else said


def coverage() -> dict[str, tuple[str, str]]:
    """Every proposal: (title, how it is covered)."""
    data = load_toml(COVERAGE.read_text("utf-8"), COVERAGE.name)
    reasons = cast("dict[str, str]", data["without_a_rule"])
    covered: dict[str, list[str]] = {}
    for rule in shipped().values():
        for name in (*rule.names, *rule.covers):
            covered.setdefault(name, []).append(_link(rule))
    found = {}
    for name, title in cast("dict[str, str]", data["proposed"]).items():
        rules = ", ".join(covered.get(name, []))
        why = reasons.get(name, "")
        if why.startswith("covered by intent-"):
            why = ""  # the rule itself says that it covers it
        found[name] = (title, "; ".join(part for part in (rules, why) if part))
    return found


def _coverage() -> Iterator[str]:
    yield "# Coverage: every proposal and what became of it"
    yield ""
    yield GENERATED.format("tools/coverage.toml and the rules")
    yield ""
    yield from head("id", "proposal", "covered by")
    for name, (title, how) in coverage().items():
        yield row(name, title, how)


def _profiles() -> Iterator[str]:
    yield "# Profiles: what a fabric can be meant to be"
    yield ""
    yield GENERATED.format("src/railwright/intent/profiles")
    yield ""
    yield 'The site file names one (`profile = "roce-lossless"`) and overrides what differs.'
    for name, data in profiles().items():
        yield from ("", f"## {name}", "", str(data["meaning"]), "")
        said = [f"{key} = {_value(value)}" for key, value in data["fabric"].items()]
        yield from fence(["[fabric]", *said] if said else ["# says nothing"])
        yield ""
        yield from (f"- {source}" for source in data["sources"])


# Where the site file's name is not the table's column.
_COLUMNS = {"mtu": "netdev_mtu"}
_WORDS = {
    "lossless_priorities": "priorities with PFC, e.g. [3]; [] is none",
    "name": "what the class is called",
    "hosts": "a node set such as gpu[001-512]; without it, and without kind: every host",
    "kind": "hosts with just these cards, an older way to name them: one that lost a card is out",
    "slots": "what is in which slot; `railwright intent init` writes them",
    "at": "the slot, as `railwright sql 'FROM card'` shows it",
    "part": "vendor and device id, e.g. 15b3:1021; several with `|` between; without it any card",
    "role": "compute, storage, management or unused",
    "devices": "RDMA devices; `*` stands for anything",
    "netdevs": "network devices, instead of devices",
    "second": "the second way in, in words: BMC, serial console",
    "interfaces": "network devices on the way in that a plan may change all the same",
    "psid": "board id of the card",
    "firmware": "the version it must run",
    "parameters": "firmware parameters and their values: a number, true, false or the printed text",
}


_SLOT_WORDS = {"kind": "nic or gpu", "netdevs": "network devices it must have; NULL = not said"}


_OWNER_WORDS = {
    "name": "who it is, as a person calls it: AVD, NIC Configuration Operator",
    "hosts": "a node set of hosts or switches such as leaf[01-16]",
    "settings": "names of settings; `*` stands for anything: switch.*",
}


def _kind(kind: object) -> str:
    if isinstance(kind, list):
        return f"list of {_kind(kind[0])}"
    if isinstance(kind, range):
        return f"{kind[0]} to {kind[-1]}"
    if isinstance(kind, tuple):
        return ", ".join(map(str, kind))
    return {str: "text", bool: "true or false", float: "number", dict: "table", list: "tables"}[
        cast("type", kind)
    ]


def _site() -> Iterator[str]:
    meanings = {
        column.name: column.meaning
        for table in intent_tables().values()
        for column in table.columns
    }
    yield "# The site file: what this fabric is meant to be"
    yield ""
    yield GENERATED.format("src/railwright/intent/site.py and schema/intent_tables")
    yield ""
    yield "One TOML file: `--site`, `$RAILWRIGHT_SITE`, `site.toml` in the store or"
    yield "`~/.config/railwright/site.toml`, in this order; `check` says which it took. Nothing"
    yield "in it is needed; what it does not say cannot be contradicted. Proposed from a snapshot:"
    yield "`railwright intent init`."
    yield 'It begins with `profile = "…"`, one of [these](profiles.md).'
    for title, known, words in (
        ("[fabric]: over the profile", FABRIC, "What all compute ports have in common."),
        (
            "[[class]]: what machines have in them",
            CLASS,
            "The last class that names a host counts. Rules of the inventory hold it to `slots`.",
        ),
        (
            "A slot of a class",
            SLOT,
            '`slots = [{ at = "0000:PC01/01.0/00.0/00.0/00", kind = "nic", part = "15b3:1021" }]`',
        ),
        (
            "[[role]]: what ports are for",
            ROLE,
            "Counts before an inferred role, which caps severity at medium, in every command.",
        ),
        ("[[nic]]: firmware of one type of card", NIC, ""),
        (
            "[[way_in]]: machines that have a second way in",
            WAY_IN,
            "Without it `railwright plan` keeps hosts in service, and the way to a switch.",
        ),
        (
            "[[owner]]: who else owns settings",
            OWNER,
            "`railwright plan` does not write them: it says what their owner has to change.",
        ),
    ):
        yield from ("", f"## {title}", "")
        if words:
            yield from (words, "")
        yield from head("key", "value", "meaning")
        for key, kind in known.items():
            meaning = meanings.get(_COLUMNS.get(key, key), "")
            own = _SLOT_WORDS if known is SLOT else _OWNER_WORDS if known is OWNER else _WORDS
            said = own.get(key, _WORDS.get(key))
            yield row(f"`{key}`", _kind(kind), said or meaning)
    yield from ("", "## And", "")
    yield '- `cabling = "cabling.csv"`: the cabling plan, from the folder of the site file. It is a'
    yield "  CSV file, a cable per line; its header has `a_device`, `a_port`, `b_device`, `b_port`"
    yield "  and perhaps `length_m`, `rail`, `plane`; others are left aside. A host's port is"
    yield "  its network device or its RDMA device, a switch's port its name or its alias."
    yield '- `never_touch = ["eno1"]`: network devices that no plan may change; `*` = anything.'
    yield "- `[parameters.link-ber-high]`: thresholds of one rule, by the names on its page."
    yield '- `[out_of_service]`: `"gpu[007-009]" = "why"`, read by `railwright collect`.'


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def rule_pages() -> dict[str, Callable[[], Iterator[str]]]:
    """All of them by name."""
    pages: dict[str, Callable[[], Iterator[str]]] = {
        "docs/rules/README.md": _index,
        "docs/rules/coverage.md": _coverage,
        "docs/profiles.md": _profiles,
        "docs/site.md": _site,
    }
    pages |= {f"docs/rules/{rule.id}.md": partial(_page, rule) for rule in shipped().values()}
    return pages
