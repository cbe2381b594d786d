"""The page about public incidents and what finds them, written from incidents.toml."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from railwright.check.rule import SHIPPED, shipped
from railwright.toml import load_toml
from tools.markdown import GENERATED, head, row

INCIDENTS = SHIPPED / "incidents.toml"
KINDS = {
    "host facts": "what is read on hosts, once or twice",
    "switches": "what switches say",
    "traffic": "a run that sends, or counters while one goes on",
    "job": "environment, log or namespace of a job",
    "not at all": "no fault on the fabric, or nothing that stays to be read",
}
STATES = {
    "found": "rules that are there find it",
    "in part": "they find a part of it, or it under a condition",
    "planned": "only a rule that is still to be written would",
    "no rule": "nothing does",
}


@dataclass(frozen=True)
class Incident:
    """One table of the file."""

    id: str
    topic: str
    title: str
    link: str
    by: str
    rules: tuple[str, ...]
    planned: tuple[str, ...] = ()
    part: bool = False
    why: str = ""

    @property
    def state(self) -> str:
        """How much of it is found, one of STATES."""
        if self.rules:
            return "in part" if self.part else "found"
        return "planned" if self.planned else "no rule"


def _incident(name: str, data: dict[str, Any]) -> Incident:
    lists = {key: tuple(data.get(key, ())) for key in ("rules", "planned")}
    return Incident(id=name, **{**data, **lists})


def incidents() -> dict[str, Incident]:
    """All of them by id; a key that the file may not have is an error."""
    data: dict[str, Any] = load_toml(INCIDENTS.read_text("utf-8"), INCIDENTS.name)
    return {name: _incident(name, one) for name, one in data.items()}


def _found_by(one: Incident) -> str:
    words = []
    for name in one.rules:
        rule = shipped()[name]
        marks = ["preview"] if rule.preview else []
        marks += ["two snapshots"] if rule.baseline else []
        words.append(f"[{name}](rules/{name}.md)" + (f" ({', '.join(marks)})" if marks else ""))
    if one.planned:
        words.append(f"planned: {', '.join(one.planned)}")
    return ", ".join(words)


def _counts(group: list[Incident]) -> list[str]:
    states = Counter(one.state for one in group)
    return [str(states[state]) for state in STATES]


def _summary(known: list[Incident], topics: list[str]) -> Iterator[str]:
    yield from ("", "## By what it takes", "")
    yield from head("kind", "it takes", "incidents", *STATES)
    for kind, meaning in KINDS.items():
        group = [one for one in known if one.by == kind]
        yield row(kind, meaning, str(len(group)), *_counts(group))
    yield row("all", "", str(len(known)), *_counts(known))
    yield from ("", "## By topic", "")
    yield from head("topic", "incidents", *KINDS, *STATES)
    for topic in topics:
        group = [one for one in known if one.topic == topic]
        kinds = Counter(one.by for one in group)
        yield row(topic, str(len(group)), *(str(kinds[kind]) for kind in KINDS), *_counts(group))
    kinds = Counter(one.by for one in known)
    yield row("all", str(len(known)), *(str(kinds[kind]) for kind in KINDS), *_counts(known))


def _page() -> Iterator[str]:
    known = list(incidents().values())
    topics = list(dict.fromkeys(one.topic for one in known))
    yield "# Incidents: what went wrong for others, and what finds it here"
    yield ""
    yield GENERATED.format("src/railwright/rules/incidents.toml")
    yield ""
    yield f"{len(known)} incidents from public threads, papers, documents and health checks. A rule"
    yield "is named only where its condition is true on the facts of that incident, as Railwright"
    yield "collects them. Rules that hold hosts against the site file find it where that file says"
    yield "what is wanted, rules that compare hosts where there are enough of them. A variable"
    yield "counts as the job's unless the incident says that a file of the host sets it."
    yield ""
    yield from (f"- *{state}*: {meaning}." for state, meaning in STATES.items())
    yield ""
    found = [one for one in known if one.rules]
    asleep = [one for one in found if all(shipped()[name].preview for name in one.rules)]
    yield f"Of the {len(found)} that are found wholly or in part, {len(asleep)} are found by rules"
    yield "in preview alone, which run only when they are selected."
    yield from _summary(known, topics)
    for topic in topics:
        yield from ("", f"## {topic[0].upper()}{topic[1:]}", "")
        yield from head("id", "what happened", "it takes", "found by", "why not, or not wholly", "")
        for one in known:
            if one.topic == topic:
                source = f"[source]({one.link})"
                yield row(one.id, one.title, one.by, _found_by(one), one.why, source)


def incident_pages() -> dict[str, Callable[[], Iterator[str]]]:
    """The page by its name."""
    return {"docs/incidents.md": _page}
