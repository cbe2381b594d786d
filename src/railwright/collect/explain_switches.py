"""`collect --explain`, for switches: every line that is sent, and why it only reads."""

from collections.abc import Iterator

from railwright.collect.switch import System, read_only_texts
from railwright.collect.switch_session import SHELL

_WAYS = {
    "shell": f"One ssh, without a terminal; `{SHELL}` reads the lines from its standard input,",
    "terminal": "One ssh with a terminal, no command; a line is sent when the prompt is back,",
}


def explained(known: list[System]) -> Iterator[str]:
    """What is sent to a switch of each system. Only switches that are named are asked."""
    yield ""
    yield "WHAT IS ASKED OF SWITCHES, where --switches names any"
    yield "  Nothing is installed, no configuration mode is entered, no privileges are asked for."
    yield "  Of the answers only listed fields and lines are kept; the rest is never stored."
    for system in known:
        yield from _system(system)


def _system(system: System) -> Iterator[str]:
    yield ""
    yield f"{system.name}: {system.title}"
    yield f"  {_WAYS[system.way]}"
    yield f"  a random mark behind each answer; at most {system.cap_bytes // 1024} KB per answer."
    yield f"  account: {system.role}"
    yield f"           ({system.role_source})"
    sources: dict[str, list[str]] = {}
    texts = [*system.opening, *(command.text for command in system.commands), system.closing]
    for text in filter(None, texts):
        sources.setdefault(read_only_texts()[system.name][text], []).append(text)
    for source, lines in sources.items():
        for text in lines:
            yield f"  send  {text}"
        yield f"        reads only: {source}"
