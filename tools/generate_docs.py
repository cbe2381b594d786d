"""Write the pages that the code itself can write: `just docs`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from railwright.collect.explain import ROOT_WORDS
from railwright.collect.probe import Probe, probes, read_only_tools
from railwright.collect.switch import systems
from railwright.hardware import firmware_parameter_names
from railwright.reach.job import STATUSES
from railwright.schema.table import Table, tables
from railwright.schema.value_state import none_words
from railwright.store.evidence import ANSWER_STATUSES, EVIDENCE_COLUMNS
from tools.command_docs import command_pages
from tools.hardware_docs import hardware_page
from tools.incident_docs import incident_pages
from tools.man_pages import man_pages
from tools.markdown import GENERATED, fence, head, row
from tools.repair_docs import repair_pages
from tools.rule_docs import rule_pages
from tools.setting_docs import setting_pages
from tools.source_docs import source_pages
from tools.switch_docs import switch_page

REPOSITORY = Path(__file__).parents[1]

KEPT = {
    "lines": "of each line only the part that matches one of these patterns.",
    "rows": "only rows whose name is known, and lines that match one of these patterns.",
    "file lines": "of each file's lines only the part that matches one of these patterns.",
    "words": "of each file only the words that match one of these patterns.",
    "lines and words": "of each file's lines only the part that matches one of these patterns; of "
    "a line that begins with one of `heads` the words that match one of `words`.",
    "json": "only these keys; of a key with a pattern only the part of its text that matches.",
}
FED_BY = {
    "run": "Written by the run itself.",
    "evidence": "Written for every answer, whatever came of it.",
    "derived": "Computed from other tables: `model/derived/{0}`.",
}


# ---- probes


def _probes() -> Iterator[str]:
    yield "# Probes: everything that is read on a host"
    yield ""
    yield GENERATED.format("src/railwright/collect/probes/*.toml")
    yield ""
    yield "`railwright collect --explain` prints the same for the version that is installed, with"
    yield "the one command that reaches a host. A probe is an argument list or a list of globs,"
    yield "never a shell string. A program runs only with the arguments that"
    yield "`collect/read_only.toml` lists for it; any other is refused when the probe is loaded."
    yield ""
    yield from head("probe", "reads", "as", "disturbs")
    for probe in probes().values():
        link = f"[{probe.name}](#{probe.name})"
        yield row(link, probe.title, ROOT_WORDS[probe.needs_root], probe.disturbs)
    for probe in probes().values():
        yield from _probe(probe)
    yield from _answers()


def _probe(probe: Probe) -> Iterator[str]:
    yield ""
    yield f"## {probe.name}"
    yield ""
    yield f"{probe.title[:1].upper()}{probe.title[1:]}."
    yield ""
    runs = "once per host" if probe.each == "host" else f"once per {probe.each}"
    limit = f"At most {probe.timeout_s} s and {probe.cap_bytes // 1024:,} KB each time"
    yield f"- Runs {runs}, {ROOT_WORDS[probe.needs_root]}. {limit}."
    yield f"- Cost: {probe.cost}."
    yield f"- Disturbs: {probe.disturbs}. Source: {probe.disturbs_source}."
    if probe.leaves:
        yield f"- Leaves {probe.leaves}."
    if probe.condition:
        yield f"- Skipped unless `{probe.condition}`: {probe.condition_reason}."
    if not probe.parse:
        yield "- Kept as evidence; no table is made of it yet."
    yield from _commands(probe)
    yield from _paths("Variables of the session that the runner was started in", probe.environment)
    yield from _paths("Files", probe.files)
    yield from _paths("Files of which only age and size are read", probe.listed)
    yield from _paths("Links, read and not followed", probe.links)
    yield from _keep(probe)


def _commands(probe: Probe) -> Iterator[str]:
    if probe.tools:
        yield ""
        yield "Commands, the first that is installed:" if len(probe.tools) > 1 else "Command:"
        yield ""
        for tool in probe.tools:
            command = " ".join((tool, *probe.argv[1:]))
            yield f"- `{command}`. Reads only: {read_only_tools()[tool].source}."
    for tool in probe.sudo_tools:
        yield ""
        command = " ".join((tool, *probe.sudo_argv[1:]))
        yield f"Where sudo allows only exact commands: `{command}`."
        yield f"Reads only: {read_only_tools()[tool].source}."


def _paths(title: str, paths: tuple[str, ...]) -> Iterator[str]:
    if paths:
        yield ""
        yield f"{title}:"
        yield ""
        yield from fence(list(paths))


def _keep(probe: Probe) -> Iterator[str]:
    yield ""
    if not probe.keep:
        yield "Kept: the files named above, whole." if probe.files else "Kept: the whole answer."
        return
    yield f"Kept: {KEPT[str(probe.keep['kind'])]}"
    yield "The rest is dropped on the host and counted."
    if "names_from" in probe.keep:
        count = len(firmware_parameter_names())
        yield f"Known names: the {count} of `hardware/firmware_parameter.csv`."
    lines = [str(text) for text in cast("list[str]", probe.keep.get("patterns", []))]
    lines += [f"head: {text}" for text in cast("list[str]", probe.keep.get("heads", []))]
    lines += [f"word: {text}" for text in cast("list[str]", probe.keep.get("words", []))]
    if "words_from" in probe.keep:
        lines.append(f"word: as of the probe {probe.keep['words_from']}")
    words = cast("list[str]", probe.keep.get("keys", probe.keep.get("names", [])))
    if words:
        lines.append(" ".join(words))
    if "key_pattern" in probe.keep:
        lines.append(f"keys whose value is no text: {probe.keep['key_pattern']}")
    texts = cast("dict[str, str]", probe.keep.get("texts", {}))
    lines += [f"{key}: {pattern}" for key, pattern in texts.items()]
    yield ""
    yield from fence(lines)


def _answers() -> Iterator[str]:
    yield ""
    yield "## What can become of a probe"
    yield ""
    yield "Only `ok` is parsed. Every other status leaves its facts unknown and says why."
    yield ""
    yield from head("status", "meaning")
    for status, meaning in ANSWER_STATUSES.items():
        yield row(f"`{status}`", meaning)


# ---- tables


def _tables() -> Iterator[str]:
    yield "# Tables: everything that is kept"
    yield ""
    yield GENERATED.format("src/railwright/schema/tables/*.toml")
    yield ""
    yield "A snapshot holds `facts/<table>.parquet` and `evidence/*.parquet`; any tool that reads"
    yield "Parquet opens them. NULL means *not read*. Where *read, and there is none* exists too,"
    yield "the column says under *none* what it looks like: a value, or NULL while a condition over"
    yield "the same row holds, which is SQL (a copper cable has no temperature)."
    yield ""
    yield from head("table", "one row is")
    for table in tables().values():
        yield row(f"[{table.name}](#{table.name})", table.meaning)
    yield row("[evidence](#evidence)", "One answer of one machine, byte for byte.")
    for table in tables().values():
        yield from _table(table)
    yield from _evidence()
    yield from _target_statuses()


def _filled_by(table: Table) -> str:
    """The probes that fill a table; parsers without a probe read output that is supplied."""
    pages = {name: f"probes.md#{name}" for name in probes()}
    pages |= {name: f"switches.md#{one.name}" for one in systems().values() for name in one.probes}
    names = [f"[{name}]({pages[name]})" if name in pages else name for name in table.probes]
    given = " Only if such output is supplied." if table.optional else ""
    return f"Filled by probe {', '.join(names)}.{given}"


def _table(table: Table) -> Iterator[str]:
    yield ""
    yield f"## {table.name}"
    yield ""
    yield table.meaning
    yield ""
    key = ", ".join(f"`{part}`" for part in table.key)
    fed_by = FED_BY.get(table.fed_by) or _filled_by(table)
    yield f"Key: {key}. {fed_by.format(table.name)}"
    yield ""
    yield from head("column", "type", "unit", "meaning", "none", "source")
    for column in table.columns:
        yield row(
            f"`{column.name}`",
            column.type,
            column.unit,
            column.meaning,
            none_words(column),
            column.source,
        )


def _evidence() -> Iterator[str]:
    yield ""
    yield "## evidence"
    yield ""
    yield "What a machine answered, byte for byte, behind the filter of its probe."
    yield ""
    yield from head("column", "type")
    for name, (_, kind) in EVIDENCE_COLUMNS.items():
        yield row(f"`{name}`", kind)


def _target_statuses() -> Iterator[str]:
    yield ""
    yield "## What can become of a machine"
    yield ""
    yield "`target.status`. Only a machine that is `reached` said everything it had announced."
    yield ""
    yield from head("status", "meaning")
    yield row("`reached`", "every frame that the runner announced came back")
    yield row("`incomplete`", "the runner had begun to answer, then the connection ended")
    yield row("`not collected`", "the run was cut off before this machine's turn")
    for status, meaning in STATUSES.items():
        if status != "answered":  # between reach and collect; never stored
            yield row(f"`{status}`", meaning)


# ---- decisions


def _decisions() -> Iterator[str]:
    yield "# Decisions: why it is built this way"
    yield ""
    yield GENERATED.format("the notes in docs/decisions")
    yield ""
    yield "Each note says what was chosen, what was not, and what was measured."
    yield ""
    for path in sorted((REPOSITORY / "docs/decisions").glob("0*.md")):
        title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        yield f"- [{title}]({path.name})"


# ---- all

PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "docs/probes.md": _probes,
    "docs/tables.md": _tables,
    "docs/switches.md": switch_page,
    "docs/hardware.md": hardware_page,
    "docs/decisions/README.md": _decisions,
    **rule_pages(),
    **repair_pages(),
    **setting_pages(),
    **incident_pages(),
    **source_pages(),
    **command_pages(),
    **man_pages(),
}


def page(name: str) -> str:
    """The text of one generated page."""
    return "\n".join(PAGES[name]()) + "\n"


def main() -> None:
    """Write all of them, and remove pages of rules and commands that are gone."""
    for old in (
        *(REPOSITORY / "docs/rules").glob("*.md"),
        *(REPOSITORY / "docs/settings").glob("*.md"),
        *(REPOSITORY / "docs/commands").glob("*.md"),
        *(REPOSITORY / "man").glob("*.1"),
    ):
        old.unlink()
    for name in PAGES:
        path = REPOSITORY / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(name), "utf-8")


if __name__ == "__main__":
    main()
