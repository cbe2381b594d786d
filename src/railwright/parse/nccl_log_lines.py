"""A log of NCCL (NCCL_DEBUG=INFO or WARN) taken apart into messages, whoever else wrote into it.

    host:pid:tid [cuda device] NCCL INFO text
    host:pid:tid [cuda device] file.cc:123 NCCL WARN text

Many processes write into one log: a message may be torn, its end standing in a line of its own and
another one's beginning in its place. A message counts as whole when its line ends where it ends.
Launchers put words before a message (time stamps, `(RayWorker pid=...)`); those do not matter.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_KIND = re.compile(r"NCCL (INFO|WARN) ")
_DEVICE = re.compile(r"\[(-?[0-9]{1,4})\]", re.ASCII)
_WHERE = re.compile(r"[A-Za-z0-9_/.-]{1,100}:[0-9]{1,6}", re.ASCII)
# Read backwards, from the end of what stands before the process number.
_TSOH = re.compile(r"[A-Za-z0-9_.-]{1,253}", re.ASCII)
_NUMBERS = re.compile(r":([0-9]{1,9}):[0-9]{1,10}$", re.ASCII)
_MOST_PAIRS = 2_000_000  # names to compare; a log with more is not mended
_HEAD = 600  # characters before "NCCL INFO" that are looked at


class Message(NamedTuple):
    """One message: who said it, where in NCCL's source a warning arose, what it says."""

    host: str
    process: int
    cuda_device: int
    is_warning: bool
    where: str
    text: str
    whole: bool


class _Head(NamedTuple):
    """What stands before `NCCL INFO`: who says it."""

    host: str
    process: int
    cuda_device: int
    where: str
    length: int  # characters up to `NCCL INFO`
    starts_line: bool


def _head(before: str) -> _Head | None:
    line = before[before.rfind("\n") + 1 :][-_HEAD:]
    words = line.split(" ")[:-1]  # a blank stands before NCCL
    where = ""
    if len(words) > 2 and not _DEVICE.fullmatch(words[-1]) and _WHERE.fullmatch(words[-1]):
        where = words.pop()
    if len(words) < 2:
        return None
    device = _DEVICE.fullmatch(words[-1])
    source = _NUMBERS.search(words[-2])
    name = words[-2][: source.start()] if source else ""
    found = _TSOH.match(name[::-1])
    if device is None or source is None or found is None:
        return None
    host = found[0][::-1]
    tail = (host + source[0], words[-1], *([where] if where else []))
    starts_line = len(words) == 2 and host == name and len(line) < _HEAD
    length = sum(len(word) + 1 for word in tail)
    return _Head(host, int(source[1]), int(device[1]), where, length, starts_line)


def _names(heads: list[_Head | None]) -> dict[str, str]:
    """Name as found -> the host's. The end of a torn line may be glued to one inside a line."""
    at_start = {head.host for head in heads if head is not None and head.starts_line}
    names = {head.host: head.host for head in heads if head is not None}
    unsure = names.keys() - at_start
    if len(unsure) * len(at_start) <= _MOST_PAIRS:
        for found in unsure:
            ends = [host for host in at_start if found.endswith(host)]
            names[found] = max(ends, key=len, default=found)
    return names


def messages(text: str) -> Iterator[Message]:
    """All messages in order."""
    parts = _KIND.split(text)
    heads = [_head(before) for before in parts[:-1:2]]
    names = _names(heads)
    for number, head in enumerate(heads):
        if head is None:
            continue
        body, newline, _ = parts[2 * number + 2].partition("\n")
        following = heads[number + 1] if number + 1 < len(heads) else None
        if not newline and following is not None:
            glued = len(following.host) - len(names[following.host])
            body = body[: len(body) - following.length + glued]
        source = (names[head.host], head.process, head.cuda_device)
        is_warning = parts[2 * number + 1] == "WARN"
        yield Message(*source, is_warning, head.where, body.rstrip(), bool(newline))
