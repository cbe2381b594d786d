"""Probe `libraries`: settings of communication libraries in a host's configuration files.

Files:  /etc/nccl.conf, /etc/ucx/ucx.conf, /etc/environment, /etc/profile.d/*.sh,
        /etc/slurm/task_prolog.sh, /etc/slurm/prolog.d/*

Which of two settings wins, for a process that was given nothing else:

- A process's own environment wins over every file (NCCL src/misc/param.cc, UCX
  src/ucs/config/parser.c). No probe reads it. Here it is what a Slurm task prolog prints, then
  what a login shell reads, then /etc/environment: the later program wins.
- NCCL next reads the file that NCCL_CONF_FILE names, or ~/.nccl.conf (neither is read here), then
  /etc/nccl.conf. It never replaces what is set, so of two equal names the first line wins.
- UCX as distributions build it reads /etc/ucx/ucx.conf first, then files beside its library, in the
  home and in the working folder (none is read here); of two equal names the last line wins.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.files import Files, read_files
from railwright.parse.host_text import without_last_line

NCCL, UCX, LOGIN = "/etc/nccl.conf", "/etc/ucx/ucx.conf", "/etc/environment"
SHELL, PROLOG = "/etc/profile.d/", "/etc/slurm/prolog.d/"
TASK_PROLOG = "/etc/slurm/task_prolog.sh"
_RANKS = (TASK_PROLOG, PROLOG, SHELL, LOGIN, NCCL, UCX)  # in the order in which they win

_LIBRARIES = {
    "NCCL": "nccl",
    "UCX": "ucx",
    "OMPI": "openmpi",
    "SHARP": "sharp",
    "HCOLL": "hcoll",
    "NVSHMEM": "nvshmem",
}
# Names that could hold a secret stay out; PKEY is a partition of an InfiniBand fabric.
_HEAD = re.compile(
    r"(\s{0,40})(?:(export)\s{1,9}|(echo|print)\s{1,9}[\"']?export\s{1,9})?"
    r"((?:(?:NCCL|UCX|SHARP|HCOLL|NVSHMEM)_|OMPI_MCA_(?:btl|pml|mtl|osc|coll)(?![A-Za-z0-9]))"
    r"(?![A-Za-z0-9_]{0,80}(?:(?<!P)KEY|TOKEN|SECRET|PASS))[A-Za-z0-9_]{0,80})"
    r"(\s{0,9}=\s{0,9}|\s{0,9}$)",
    re.ASCII,
)
_PLAIN = re.compile(
    r"([\"']?)([A-Za-z0-9_.,:/^=~+@*-]{0,1000})([\"']{0,2})\s{0,200}(#|;|$)", re.ASCII
)
_SECTION = re.compile(r"\[([A-Za-z0-9][A-Za-z0-9 _.-]{0,59})\]\s{0,200}$", re.ASCII)


class _Line(NamedTuple):
    """A line that sets a variable, taken apart. Value None: more than a plain word."""

    indented: bool
    command: str  # export, echo or ''
    name: str
    tight: bool  # no blanks around =
    value: str | None


class _Setting(NamedTuple):
    """A line in its file. It counts: None where the file alone does not tell."""

    file: str
    number: int
    section: str
    name: str
    value: str | None
    counts: bool | None


def _line(line: str, file: str) -> _Line | None:
    head = _HEAD.match(line)
    if head is None:
        return None
    # The filter on the machine leaves only the name where the value is no plain word.
    plain = _PLAIN.match(line, head.end()) if "=" in head[5] else None
    value = plain[2] if plain else None
    if plain and file in (NCCL, UCX):  # neither takes quotes off
        value = plain[1] + plain[2] + plain[3]
        if plain[4] and file == NCCL:  # to NCCL the rest of the line belongs to the value
            value = None
    command = "echo" if head[3] else head[2] or ""
    return _Line(bool(head[1]), command, head[4], head[5].strip() == head[5], value)


def _counts(file: str, line: _Line) -> bool | None:
    """Whether the program that reads this file takes the line as this variable.

    What is indented in a script, or not exported, depends on lines that are not read.
    """
    if file == NCCL:  # all before `=` is the name, blanks and `export` too
        return line.tight and not line.indented and not line.command
    if file in (UCX, LOGIN):  # pam_env(8) takes `export` off, UCX does not
        return not line.command or (file == LOGIN and line.command == "export")
    # Slurm takes what a task prolog prints. A prolog that is none sets no job's environment.
    wanted = "export" if file.startswith(SHELL) else "echo"
    if line.command != wanted and (line.command or wanted == "echo"):
        return False
    may_not_run = line.indented or not line.command or file.startswith(PROLOG)
    return None if line.tight and may_not_run else line.tight


def _settings(file: str, text: str) -> Iterator[_Setting]:
    section = ""
    for number, text_line in enumerate(text.split("\n")):
        heading = _SECTION.match(text_line) if file == UCX else None
        section = heading[1] if heading else section
        line = _line(text_line, file)
        if line is not None:
            # Settings of a section hold only on machines that its first lines describe.
            counts = None if section and not line.command else _counts(file, line)
            yield _Setting(file, number, section, line.name, line.value, counts)


def _strength(file: str) -> tuple[list[bool], str]:
    """The larger wins: by program, then later files of a folder."""
    return [file.startswith(path) for path in _RANKS], file


def _ordered(settings: list[_Setting]) -> list[_Setting]:
    """What wins to the front: by file, then by line."""
    lines = sorted(settings, key=lambda one: one.number if one.file == NCCL else -one.number)
    return sorted(lines, key=lambda one: _strength(one.file), reverse=True)


def _precedences(settings: list[_Setting], unread: list[str]) -> dict[_Setting, int]:
    """1 for the setting of a name that wins, and so on down; 0 for a line that does not count.

    Behind one of which nobody knows whether it counts, no setting of that name has a place; nor
    behind a file that was not read and may set any name.
    """
    hides = max(map(_strength, unread), default=None)
    by_name: dict[str, list[_Setting]] = {}
    found = {}
    for setting in settings:
        if setting.counts is False:
            found[setting] = 0
        else:
            by_name.setdefault(setting.name, []).append(setting)
    for same in by_name.values():
        for rank, setting in enumerate(_ordered(same), start=1):
            if setting.counts is None or (hides and hides > _strength(setting.file)):
                break
            found[setting] = rank
    return found


def _row(setting: _Setting, place: int, precedence: int | None) -> Row:
    values: dict[str, Value] = {
        "library": _LIBRARIES[setting.name.partition("_")[0]],
        "file": setting.file,
        "name": setting.name,
        "place": place,
        "section": setting.section,
        "value": setting.value,
        "precedence": precedence,
    }
    return Row("library_setting", values)


def _is_unread(files: Files, path: str) -> bool:
    return files.is_cut(path) or files.error(path) not in (None, "ENOENT")


def _unread(file: str) -> Row:
    names = ("library", "section", "value", "precedence")
    return Row("library_setting", {"file": file, "name": "", "place": 0, **dict.fromkeys(names)})


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table library_setting."""
    files = read_files(data)
    known = sorted(path for path in files if path.startswith(_RANKS))
    if data and not known:
        raise NotUnderstoodError("no configuration file that is known")
    settings: list[_Setting] = []
    for path in known:
        text = text_of(files.content(path) or b"")
        settings += _settings(path, without_last_line(text) if files.is_cut(path) else text)
    unread = [path for path in known if _is_unread(files, path)]
    # The libraries' own files are the weakest: what they hide stands in no other file.
    precedences = _precedences(settings, [path for path in unread if path not in (NCCL, UCX)])
    places: dict[tuple[str, str], int] = {}
    for setting in settings:
        place = places.get((setting.file, setting.name), 0)
        places[setting.file, setting.name] = place + 1
        yield _row(setting, place, precedences.get(setting))
    for path in unread:
        yield _unread(path)
