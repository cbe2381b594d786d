"""`collect --explain`: the complete answer to "what is sent to my hosts?"."""

import hashlib
from collections.abc import Iterator

from railwright.collect.probe import Probe, read_only_tools
from railwright.collect.request import RUNNER
from railwright.reach.bootstrap import REMOTE_COMMAND

# Beside the probes: who the host is, and what there is to run a probe on. Held to the runner by a
# test that traces it.
OWN_FILES = {
    "/proc/sys/kernel/hostname": "its name",
    "/proc/sys/kernel/random/boot_id": "which boot this is",
    "/proc/uptime": "how long it has been up",
    "/etc/os-release": "its distribution",
    "/sys/bus/pci/devices/*/vendor": "which functions are NICs",
    "/sys/bus/pci/devices/*/class": "the same",
    "/sys/class/infiniband/*/sys_image_guid": "which functions are one card",
    "/sys/module/nvidia/refcnt": "whether a GPU is in use",
    "/proc/*/comm": "whether nvidia-persistenced runs (only where the nvidia module is loaded)",
    "/proc/*/stat": "whether an ssh server started the runner (only of the processes above it)",
    "/proc/1/mounts": "whether /boot would be mounted by reading it",
    "/proc/self/mounts": "the same, where that is hidden",
    "/dev/null": "as standard input of commands",
}

ROOT_WORDS = {
    "no": "as the user",
    "maybe": "as the user; as root where that is to be had",
    "yes": "as root only",
}


def explained(probes: list[Probe]) -> Iterator[str]:
    """Every command and file, what it costs, what it disturbs, and where that is documented."""
    source = RUNNER.read_bytes()
    yield "WHAT REACHES A HOST"
    yield "  One constant command, as the login shell's argument:"
    yield f"    {REMOTE_COMMAND}"
    yield "  On its standard input, as data: the runner (Python, standard library only) and"
    yield "  the probes below. `railwright runner` prints the same runner to read it:"
    yield f"    {len(source)} bytes, sha256 {hashlib.sha256(source).hexdigest()}"
    yield "  Nothing is installed; nothing is written but what a probe says under `leaves`."
    yield "  It runs at nice 19, one probe at a time on one card, at most four cards at a"
    yield "  time, and ends with the connection."
    yield "  With --become: `sudo -n -l` once; a refusal is final."
    yield ""
    yield "WHAT THE RUNNER READS FOR ITSELF"
    for pattern, why in OWN_FILES.items():
        yield f"  {pattern:38} {why}"
    yield ""
    yield f"WHAT IS READ: {len(probes)} probes"
    for probe in probes:
        yield from _probe(probe)


def _probe(probe: Probe) -> Iterator[str]:
    times = "" if probe.each == "host" else f", once per {probe.each}"
    yield ""
    yield f"{probe.name}: {probe.title}"
    yield (
        f"  {ROOT_WORDS[probe.needs_root]}{times}; at most {probe.timeout_s} s and "
        f"{probe.cap_bytes // 1024} KB; {probe.cost}"
    )
    yield f"  disturbs: {probe.disturbs} ({probe.disturbs_source})"
    if probe.leaves:
        yield f"  leaves: {probe.leaves}"
    if probe.condition:
        yield f"  else skipped: {probe.condition_reason}"
    for tool in probe.tools:
        yield f"  run   {' '.join((tool, *probe.argv[1:]))}"
        yield f"        reads only: {read_only_tools()[tool].source}"
    for name in probe.environment:
        yield f"  env   {name} of the session that the runner was started in"
    for pattern in probe.listed:
        yield f"  stat  {pattern}"
    for pattern in probe.files:
        yield f"  read  {pattern}"
    for pattern in probe.links:
        yield f"  link  {pattern}"
    for tool in probe.sudo_tools:
        yield (
            f"  or, where sudo allows only exact commands: {' '.join((tool, *probe.sudo_argv[1:]))}"
        )
    if probe.keep:
        yield f"  kept  {_kept(probe)}"


def _kept(probe: Probe) -> str:
    words = {
        "lines": "only the part of a line that matches a known message or field",
        "rows": "only rows of known names",
        "file lines": "only the part of a line that matches a known setting",
        "lines and words": "only known lines, and of options only the known ones",
        "words": "only words that are known options",
        "json": "only named fields; descriptions only as far as they name a port or a system",
    }
    return f"{words[str(probe.keep['kind'])]}; the rest is dropped on the host and counted"
