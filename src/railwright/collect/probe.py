"""Probes as data: load `probes/*.toml`, refuse what is not a pure read."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import cast

from railwright.errors import ProbeError, nearest
from railwright.hardware import firmware_parameter_names
from railwright.toml import load_toml

HERE = Path(__file__).parent

# What the runner may fill in for each way of repeating a probe.
PLACEHOLDERS = {
    "host": frozenset[str](),
    "nic": frozenset({"pci"}),
    "port": frozenset({"device", "port"}),
    "netdev": frozenset({"netdev"}),
    "ssh session": frozenset({"client", "server"}),
}
# What a probe may take from the environment that the runner was started in, and no other: a
# session's environment holds secrets.
ENVIRONMENT = ("SSH_CONNECTION",)
DISTURBS = ("nothing", "device semaphore", "initialises GPU")
NEEDS_ROOT = ("no", "maybe", "yes")
CONDITIONS = ("", "gpu_is_initialised", "boot_is_no_automount")
FILE_ROOTS = (
    *("/sys/", "/proc/", "/etc/", "/boot/grub", "/boot/loader/entries/", "/boot/efi/EFI/"),
    *("/run/systemd/network/", "/run/netplan/", "/usr/lib/modules-load.d/"),
)
# Of files below these, and of folders, only age and size are read.
LISTED_ROOTS = (*FILE_ROOTS, "/boot/", "/lib/modules/", "/usr/lib/modules/")
# Reading these does something, or gives what nobody should have.
REFUSED_FILES = re.compile(
    r"\.\.|/rom$|/resource\d*(_wc)?$|/reset$|/remove$|/rescan$|/kcore|/kmsg|/environ$|/mem$"
    r"|/proc/[^/]+/cmdline$|/user\.cfg$|/shadow|/etc/ssh|/etc/ssl|/etc/sudo|_key$|\.pem$"
)
LARGEST_CAP = 8 * 1024 * 1024  # one answer; a frame of it still fits the collector's memory
LONGEST_TIMEOUT = 120

# sudoers: one PCI address written in character classes. No `*`: in sudoers it matches blanks and
# slashes too, and would let a caller add arguments.
_HEX = "[0-9a-f]"
SUDO_CLASSES = {
    "pci": rf"{_HEX * 4}\:{_HEX * 2}\:{_HEX * 2}.[0-7]",
    "netdev": "{netdev}",  # see NETDEV_CLASS
}
NETDEV_START, NETDEV_CLASS = "[a-zA-Z0-9_]", "[a-zA-Z0-9_.-]"  # no option; the runner's are equal
NETDEV_LENGTHS = range(2, 16)  # IFNAMSIZ is 16 with its final NUL


@dataclass(frozen=True)
class Probe:
    """One thing that is read on a host."""

    name: str
    title: str
    each: str
    timeout_s: int
    cap_bytes: int
    cost: str
    disturbs: str
    disturbs_source: str
    needs_root: str
    leaves: str = ""  # what its tool leaves on the host
    tools: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()  # files of which only age and size are read
    file_cap_bytes: int = 65536  # of one file, before the filter
    environment: tuple[str, ...] = ()
    condition: str = ""
    condition_reason: str = ""
    absent: str = "absent"
    absent_reason: str = "there are no such files on this host"
    busy_words: tuple[str, ...] = ()
    absent_words: tuple[str, ...] = ()
    error_patterns: tuple[str, ...] = ()
    denied_words: tuple[str, ...] = (
        "permission denied",
        "operation not permitted",
        "must be root",
        "no permission",
    )
    keep: dict[str, object] = field(default_factory=dict)
    sudo_tools: tuple[str, ...] = ()
    sudo_argv: tuple[str, ...] = ()
    parse: bool = True

    def sudo_form(self) -> list[str]:
        """The arguments as they stand in a sudoers file, values as character classes.

        `{netdev}` stays: its class is as long as the name, so there is one form per length.
        """
        argv = self.argv or self.sudo_argv
        # A bare program name in sudoers allows any arguments; '""' allows none.
        return [_sudo_escape(part) for part in argv[1:]] or ['""']

    def request(self) -> dict[str, object]:
        """The probe as the runner gets it."""
        keep = dict(self.keep)
        if source := keep.pop("words_from", None):
            keep["words"] = [*cast("list[str]", keep["words"]), *_patterns_of(str(source))]
        if keep.pop("names_from", None):
            keep["names"] = list(firmware_parameter_names())
        return {
            "name": self.name,
            "each": self.each,
            "tools": list(self.tools),
            "argv": list(self.argv),
            "files": list(self.files),
            "links": list(self.links),
            "listed": list(self.listed),
            "file_cap": self.file_cap_bytes,
            "timeout": self.timeout_s,
            "cap": self.cap_bytes,
            "needs_root": self.needs_root,
            "condition": self.condition,
            "condition_reason": self.condition_reason,
            "absent": self.absent,
            "absent_reason": self.absent_reason,
            "busy_words": list(self.busy_words),
            "absent_words": list(self.absent_words),
            "error_patterns": list(self.error_patterns),
            "denied_words": list(self.denied_words),
            "keep": keep or None,
            "sudo_tools": list(self.sudo_tools or self.tools),
            "sudo_argv": list(self.sudo_argv),
            "sudo_form": self.sudo_form(),
        }


@dataclass(frozen=True)
class Tool:
    """A program that probes may run, and the only argument lists it may be run with."""

    name: str
    arguments: tuple[str, ...]
    paths: tuple[str, ...]
    source: str


def _sudo_escape(part: str) -> str:
    named = re.fullmatch(r"\{(\w+)\}", part)
    if named:
        return SUDO_CLASSES.get(named.group(1), part)  # a session's are never asked of sudo
    return re.sub(r"([,:=\\])", r"\\\1", part)


@cache
def read_only_tools() -> dict[str, Tool]:
    """The programs of read_only.toml by name."""
    file = HERE / "read_only.toml"
    found = {}
    for name, raw in load_toml(file.read_text("utf-8"), file.name).items():
        entry = cast("dict[str, list[str]]", raw)
        found[name] = Tool(
            name, tuple(entry["arguments"]), tuple(entry["paths"]), str(entry["source"])
        )
    return found


def _refuse(name: str, what: str, do: str) -> ProbeError:
    return ProbeError(
        f"probe {name}: {what}", why="A probe may only read; this one is not loaded.", do=do
    )


def _check_argv(probe: Probe, tools: tuple[str, ...], argv: tuple[str, ...]) -> None:
    if not argv:
        return
    if argv[0] != "{tool}":
        raise _refuse(probe.name, f"argv starts with {argv[0]!r}", 'Write argv = ["{tool}", …].')
    if not tools:
        raise _refuse(probe.name, "argv without tools", "Name the program in `tools`.")
    arguments = " ".join(argv[1:])
    for tool in tools:
        known = read_only_tools().get(tool)
        if known is None or arguments not in known.arguments:
            raise _refuse(
                probe.name,
                f"`{tool} {arguments}` is not a known read-only command",
                "Add the program and its exact arguments to read_only.toml, with the source that "
                "says that it only reads.",
            )
    named = {part for text in argv for _, part, _, _ in Formatter().parse(text) if part}
    unknown = named - PLACEHOLDERS[probe.each] - {"tool"}
    if unknown:
        raise _refuse(probe.name, f"unknown placeholder {sorted(unknown)}", "See PLACEHOLDERS.")


def _patterns_of(name: str) -> list[str]:
    """The patterns of another probe: what one does not let out, the other does not."""
    data = load_toml((HERE / "probes" / f"{name}.toml").read_text("utf-8"), f"{name}.toml")
    keep = cast("dict[str, list[str]]", data["keep"])
    return keep["patterns"]


def _check_files(probe: Probe) -> None:
    listed = [path for path in probe.listed if not path.startswith(FILE_ROOTS)]
    if not all(path.startswith(LISTED_ROOTS) for path in listed):
        raise _refuse(
            probe.name, "may not list that", f"Choose files below {', '.join(LISTED_ROOTS)}."
        )
    for path in (*probe.files, *probe.links):
        if not path.startswith(FILE_ROOTS) or REFUSED_FILES.search(path):
            raise _refuse(
                probe.name,
                f"may not read {path}",
                f"Files must be below {', '.join(FILE_ROOTS)} and have no side effects when read.",
            )


def _check(probe: Probe) -> None:
    choices = (
        ("each", probe.each, tuple(PLACEHOLDERS)),
        ("disturbs", probe.disturbs, DISTURBS),
        ("needs_root", probe.needs_root, NEEDS_ROOT),
        ("condition", probe.condition, CONDITIONS),
    )
    for key, value, allowed in choices:
        if value not in allowed:
            raise _refuse(
                probe.name, f"unknown {key} {value!r}", f"Choose one of {', '.join(allowed)}."
            )
    if not probe.disturbs_source:
        raise _refuse(probe.name, "no disturbs_source", "Name the document that says so.")
    if probe.disturbs == "initialises GPU" and not probe.condition:
        raise _refuse(probe.name, "would initialise GPUs", "Give it a condition.")
    if not (
        0 < probe.timeout_s <= LONGEST_TIMEOUT
        and 0 < probe.file_cap_bytes <= LARGEST_CAP
        and 0 < probe.cap_bytes <= LARGEST_CAP
    ):
        raise _refuse(
            probe.name, "timeout_s or cap_bytes is out of range", "Use at most 120 s, 8 MiB."
        )
    inputs = (probe.argv, probe.files or probe.links or probe.listed, probe.environment)
    if sum(map(bool, inputs)) != 1:
        raise _refuse(
            probe.name, "needs either argv, files or environment", "Give exactly one of them."
        )
    if probe.environment and (
        probe.environment != ENVIRONMENT or probe.each != "ssh session" or probe.needs_root != "no"
    ):
        raise _refuse(
            probe.name,
            f"may not read {', '.join(probe.environment)} of the environment",
            f'Only {ENVIRONMENT[0]}, with each = "ssh session" and as the user.',
        )
    _check_argv(probe, probe.tools, probe.argv)
    _check_argv(probe, probe.sudo_tools, probe.sudo_argv)
    _check_files(probe)


def load_probe(name: str, text: str) -> Probe:
    """One probe from its TOML text; anything that is not a pure read is refused."""
    data = load_toml(text, f"{name}.toml")
    sudo = cast("dict[str, list[str]]", data.pop("sudo", {}))
    values: dict[str, object] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
    }
    values["sudo_tools"] = tuple(sudo.get("tools", ()))
    values["sudo_argv"] = tuple(sudo.get("argv", ()))
    try:
        probe = Probe(name=name, **values)  # type: ignore[arg-type]
    except TypeError as error:
        raise _refuse(
            name, str(error).replace("Probe.__init__() ", ""), "See the other probes."
        ) from error
    _check(probe)
    return probe


def load_folder(folder: Path) -> dict[str, Probe]:
    """All probes of a folder, by name."""
    return {
        file.stem: load_probe(file.stem, file.read_text("utf-8"))
        for file in sorted(folder.glob("*.toml"))
    }


@cache
def probes() -> dict[str, Probe]:
    """The probes that Railwright ships."""
    return load_folder(HERE / "probes")


def select(wanted: list[str] | None = None, without: list[str] | None = None) -> list[Probe]:
    """The named probes, or all of them; a name that does not exist is an error."""
    known = probes()
    unknown = [name for name in (*(wanted or ()), *(without or ())) if name not in known]
    if unknown:
        raise ProbeError(
            f"unknown probe {', '.join(map(repr, unknown))}",
            do=nearest(unknown[0], known, "railwright collect --explain lists all."),
        )
    names = wanted or list(known)
    return [known[name] for name in known if name in names and name not in (without or ())]
