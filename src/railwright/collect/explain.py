"""`collect --explain`: the complete answer to "what is sent to my hosts?"."""

import hashlib

from rich.console import Console

from railwright.collect.probe import Probe, read_only_tools
from railwright.collect.request import RUNNER
from railwright.reach.bootstrap import REMOTE_COMMAND

ROOT_WORDS = {
    "no": "as the user",
    "maybe": "as the user; as root where that is to be had",
    "yes": "as root only",
}


def print_explained(console: Console, probes: list[Probe]) -> None:
    """Every command and file, what it costs, what it disturbs, and where that is documented."""
    source = RUNNER.read_bytes()
    console.print("WHAT REACHES A HOST")
    console.print("  One constant command, as the login shell's argument:")
    console.print(f"    {REMOTE_COMMAND}", soft_wrap=True)
    console.print(
        "  On its standard input, as data: the runner (Python, standard library only) and"
    )
    console.print("  the probes below. `railwright runner` prints the same runner to read it:")
    console.print(f"    {len(source)} bytes, sha256 {hashlib.sha256(source).hexdigest()}")
    console.print(
        "  Nothing is installed or written there. It runs at nice 19, one probe at a time"
    )
    console.print("  on one card, at most four cards at a time, and ends with the connection.")
    console.print("  With --become: `sudo -n -l` once; a refusal is final.")
    console.print("")
    console.print(f"WHAT IS READ: {len(probes)} probes")
    for probe in probes:
        _print_probe(console, probe)


def _print_probe(console: Console, probe: Probe) -> None:
    times = "" if probe.each == "host" else f", once per {probe.each}"
    console.print("")
    console.print(f"{probe.name}: {probe.title}")
    console.print(
        f"  {ROOT_WORDS[probe.needs_root]}{times}; at most {probe.timeout_s} s and "
        f"{probe.cap_bytes // 1024} KB; {probe.cost}"
    )
    console.print(f"  disturbs: {probe.disturbs} ({probe.disturbs_source})", soft_wrap=True)
    if probe.condition:
        console.print(f"  else skipped: {probe.condition_reason}")
    for tool in probe.tools:
        console.print(f"  run   {' '.join((tool, *probe.argv[1:]))}")
        console.print(f"        reads only: {read_only_tools()[tool].source}", soft_wrap=True)
    for pattern in probe.files:
        console.print(f"  read  {pattern}")
    for pattern in probe.links:
        console.print(f"  link  {pattern}")
    for tool in probe.sudo_tools:
        console.print(
            f"  or, where sudo allows only exact commands: {' '.join((tool, *probe.sudo_argv[1:]))}"
        )
    if probe.keep:
        console.print(f"  kept  {_kept(probe)}", soft_wrap=True)


def _kept(probe: Probe) -> str:
    words = {
        "lines": "only the part of a line that matches a known message or field",
        "rows": "only rows of known names",
        "words": "only named words",
        "json": "only named fields; descriptions only as far as they name a port or a system",
    }
    return f"{words[str(probe.keep['kind'])]}; the rest is dropped on the host and counted"
