"""docs/switches.md: what is asked of a switch, who may ask it, and what is kept."""

from collections.abc import Iterator
from pathlib import Path

from railwright.collect.switch import System, read_only_texts, systems
from railwright.schema import system as reporting
from tools.markdown import GENERATED, fence, head, row

HEAD = Path(__file__).with_name("switches_head.md")


def _system(system: System) -> Iterator[str]:
    yield ""
    yield f"## {system.name}"
    yield ""
    yield f"{system.title}; answers of {', '.join(f'`{probe}`' for probe in system.probes)}."
    yield f"Account: {system.role} ({system.role_source})."
    yield ""
    groups: dict[str, list[str]] = {}
    texts = [*system.opening, *(command.text for command in system.commands), system.closing]
    for text in filter(None, texts):
        groups.setdefault(read_only_texts()[system.name][text], []).append(text)
    for source, lines in groups.items():
        yield from fence(lines)
        yield f"Reads only: {source}."
        yield ""
    yield from head("probe", "table or kind", "kept")
    for probe, rule in system.keep.items():
        for table, fields in rule.get("tables", {}).items():
            yield row(f"`{probe}`", f"`{table}`", f"`{fields}`")
        if "leaves" in rule:
            yield row(f"`{probe}`", "JSON fields", " ".join(f"`{one}`" for one in rule["leaves"]))
        if rule.get("lines"):
            yield row(
                f"`{probe}`", "lines", f"{len(rule['lines'])} patterns in `{system.name}.toml`"
            )


_SHOWN = {
    "reported": "yes",
    "not_reported": "**no**",
    "automatic": "worked out, not shown",
    "lacking": "has none",
}


def _reports() -> Iterator[str]:
    """Which facts each system reports, and where that is known from."""
    known = reporting.systems().values()
    yield from head("fact", "what", *(system.name for system in known))
    for fact in reporting.facts().values():
        states = (_SHOWN[system.states[fact.name]] for system in known)
        yield row(f"`{fact.name}`", fact.meaning, *states)
    yield ""
    for system in known:
        for name, state in system.states.items():
            if state != "reported":
                said = _SHOWN[state].strip("*")
                yield f"- {system.name}, `{name}`: {said}. {system.sources[name]}."


def switch_page() -> Iterator[str]:
    """The page."""
    yield "# Switches: everything that is asked of them"
    yield ""
    edited = "src/railwright/collect/switches/*.toml, schema/systems/*.toml, tools/switches_head.md"
    yield GENERATED.format(edited)
    yield ""
    yield from HEAD.read_text("utf-8").rstrip().split("\n")
    yield ""
    yield from _reports()
    for system in systems().values():
        yield from _system(system)
