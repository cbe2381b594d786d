"""Which module does what a command says: by the program's name."""

import pkgutil
import posixpath
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from lab.fleet.render import all_commands, programs_module
from lab.writes.outcome import KernelError, Outcome, RefusedError

if TYPE_CHECKING:
    from lab.writes.state import HostState

# A tool's function: the state, the program's name, its arguments, standard input. None = it is no
# write, or none that this module knows: then the renderers answer.
Tool = Callable[["HostState", str, list[str], str], Outcome | None]
_ALIASES = {
    "mstconfig": "mlxconfig",
    "mstfwreset": "mlxfwreset",
    "mstflint": "flint",
    "mstfwmanager": "mlxfwmanager",
}


@cache
def tools() -> dict[str, Tool]:
    """Program -> what it does: every module of lab.writes.tools names its programs."""
    found: dict[str, Tool] = {}
    folder = import_module("lab.writes.tools")
    for entry in pkgutil.iter_modules(folder.__path__):
        module = import_module(f"lab.writes.tools.{entry.name}")
        found |= dict.fromkeys(module.PROGRAMS, module.run)
    return found


_SETTERS: dict[str, frozenset[str]] = {
    "mlxconfig": frozenset({"s", "set", "r", "reset", "set_raw", "backup", "clear_semaphore"}),
    "mlxfwreset": frozenset({"r", "reset"}),
    "flint": frozenset({"b", "burn", "ir", "image_reactivate"}),
    "dcb": frozenset({"set", "add", "del", "replace", "flush"}),
    "ip": frozenset({"set", "add", "del", "delete", "replace", "change"}),
    "ethtool": frozenset(
        {"-s", "--change", "-A", "--pause", "-G", "--set-ring", "-L", "--set-channels", "--set-fec"}
    ),
    "rdma": frozenset({"set"}),
    "cpupower": frozenset({"frequency-set", "idle-set"}),
    "sysctl": frozenset({"-w", "-p", "--load", "--system"}),
    "systemctl": frozenset(
        {"enable", "disable", "start", "stop", "restart", "reload", "mask", "unmask", "reboot"}
        | {"daemon-reload", "reload-or-restart"}
    ),
}


def is_write(argv: tuple[str, ...]) -> bool:
    """Whether a command line asks for a change, whatever comes of it."""
    words = _without_sudo(list(argv))
    program = usual_name(posixpath.basename(words[0])) if words else ""
    arguments = words[1:]
    if program not in tools():
        return False
    if program == "mlnx_qos":
        return bool([word for word in arguments if word.startswith("-")][1:])
    if program in ("setpci", "sysctl") and any("=" in word for word in arguments):
        return True
    if program == "grubby":
        return any(word.startswith("--update-kernel") for word in arguments)
    setters = _SETTERS.get(program)
    return program != "setpci" if setters is None else bool(setters & set(arguments))


def usual_name(program: str) -> str:
    """mstconfig -> mlxconfig: one tool under two names."""
    return _ALIASES.get(program, program)


def run(state: "HostState", argv: tuple[str, ...], stdin: str) -> Outcome:
    """Do what a command line says, or answer what it asks."""
    words = _without_sudo([word.replace("\0", "") for word in argv])
    if not words or not words[0]:
        return Outcome("", "-: command not found\n", 127)
    program = posixpath.basename(words[0])
    state.begin(usual_name(program))
    tool = tools().get(usual_name(program))
    try:
        outcome = tool(state, usual_name(program), words[1:], stdin) if tool else None
    except RefusedError as error:
        outcome = error.outcome
    except KernelError as error:  # a tool that has no words of its own for it
        outcome = Outcome("", f"{program}: {error.words}\n", 1)
    return outcome if outcome is not None else _answer(state, program, words[1:], tool is not None)


def _without_sudo(words: list[str]) -> list[str]:
    """Every command runs as root already."""
    if words and posixpath.basename(words[0]) == "sudo":
        rest = words[1:]
        while rest and rest[0] in ("-n", "-E", "--"):
            rest = rest[1:]
        return rest
    return words


def _answer(state: "HostState", program: str, arguments: list[str], writes: bool) -> Outcome:
    """What a renderer says; the command as it was typed, or with the whole PCI address."""
    usual = usual_name(program)
    model = state.model(usual)
    typed = " ".join([usual, *arguments])
    whole = " ".join([usual, *(_whole(word) for word in arguments)])
    module = programs_module(usual)
    answers = module.commands(model) if module is not None else all_commands(model)
    is_known = writes
    for said in answers:
        if said.command in (typed, whole):
            return Outcome(said.stdout, said.stderr, said.code)
        is_known = is_known or said.command.partition(" ")[0] == usual
    if not is_known:
        return Outcome("", f"{program[:200]}: command not found\n", 127)
    words = " ".join([program, *arguments])[:1000]
    return Outcome("", f"this lab's {program} has no answer to: {words}\n", 1)


def _whole(word: str) -> str:
    return f"0000:{word}" if len(word) == 7 and word[2] == ":" and word[5] == "." else word
