"""docs/switches.md: what is asked of a switch, who may ask it, and what is kept."""

from collections.abc import Iterator
from pathlib import Path

from railwright.collect.switch import System, read_only_texts, systems
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


def switch_page() -> Iterator[str]:
    """The page."""
    yield "# Switches: everything that is asked of them"
    yield ""
    yield GENERATED.format("src/railwright/collect/switches/*.toml and tools/switches_head.md")
    yield ""
    yield from HEAD.read_text("utf-8").rstrip().split("\n")
    for system in systems().values():
        yield from _system(system)
