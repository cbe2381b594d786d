"""`rdma -j system show`: whether RDMA devices belong to one network namespace each.

With -j it prints text all the same (iproute2 6.1: `netns shared copy-on-fork on`), for no JSON list
is opened; releases until 2021 printed bare members of an object. One pattern reads all of them.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.iproute_text import answer_text, no_answer

_MODE = re.compile(
    r'^[\[{\s"]{0,16}netns(?: |": ?")(shared|exclusive|unknown)(?![a-z])', re.MULTILINE
)
_COPY = re.compile(r'[\s"]copy-on-fork(?: |": ?"?)(on|off|true|false)(?![a-z])')
_YES = {"on": True, "true": True, "off": False, "false": False}


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table rdma_system, one row."""
    text = answer_text(data)
    modes = set(_MODE.findall(text))
    copies = {_YES[word] for word in _COPY.findall(text)}
    if not modes:
        raise no_answer(text)
    if len(modes) > 1 or len(copies) > 1:
        raise NotUnderstoodError("two answers that differ")
    mode = modes.pop()
    values: dict[str, Value] = {
        "netns_mode": None if mode == "unknown" else mode,  # a mode newer than the tool
        "copy_on_fork": copies.pop() if copies else None,
    }
    yield Row("rdma_system", values)
