"""modprobe, rmmod, insmod's absence, depmod: kernel modules."""

from typing import TYPE_CHECKING

from lab.writes import modules
from lab.writes.outcome import KernelError, Outcome

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("modprobe", "rmmod", "depmod")


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`modprobe [-r] NAME …`, `rmmod NAME …`."""
    del stdin
    words = [word for word in arguments if not word.startswith("-")]
    if program == "depmod" or {"-n", "--dry-run"} & set(arguments):
        return Outcome()
    if not words:
        words_of = "modprobe: ERROR: missing parameters. See -h.\n"
        return Outcome("", words_of.replace("modprobe", program), 1)
    takes_out = program == "rmmod" or bool({"-r", "--remove"} & set(arguments))
    names = words if takes_out or {"-a", "--all"} & set(arguments) else words[:1]
    for word in names:
        name = word.replace("-", "_")
        wrong = _unload(state, program, name) if takes_out else _load(state, program, word, name)
        if wrong:
            return Outcome("", wrong, 1)
    return Outcome()


def _load(state: "HostState", program: str, word: str, name: str) -> str:
    try:
        modules.load(state, name)
    except KernelError:
        release = state.model().kernel.release
        folder = f"/lib/modules/{release}"
        return f"{program}: FATAL: Module {word[:200]} not found in directory {folder}\n"
    return ""


def _unload(state: "HostState", program: str, name: str) -> str:
    try:
        users = modules.users(state, name)
    except KernelError:
        if program == "rmmod":
            return f"rmmod: ERROR: Module {name[:200]} is not currently loaded\n"
        return f"modprobe: FATAL: Module {name[:200]} not found.\n"
    if users:
        named = " ".join(one for one in users if one)
        kind = "ERROR" if program == "rmmod" else "FATAL"
        by = f" by: {named}" if named else ""
        return f"{program}: {kind}: Module {name} is in use{by}\n"
    modules.unload(state, name)
    return ""
