"""Probe `cmdline`: what the kernel was started with.

File:   /proc/cmdline (or its bare text)

On the machine only options on the probe's list are kept, one per line.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.files import read_files
from railwright.parse.host_text import is_stream

FILE = "/proc/cmdline"

# A word may hold blanks between double quotes: dyndbg="file x +p".
_WORD = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}", re.ASCII)
# The kernel's own words end here; the rest is for init (Linux kernel-parameters.rst).
_FOR_INIT = "--"


def _of_stream(data: bytes) -> list[str]:
    files = read_files(data)
    text = files.text(FILE)
    if text is None:
        raise NotUnderstoodError(f"{FILE} was not read: {files.error(FILE) or 'not listed'}")
    words = _WORD.findall(text)
    return words[:-1] if files.is_cut(FILE) else words  # iommu=o may be iommu=off


def _of_text(text: str) -> list[str]:
    """The words of a bare command line; every one names something, if only its root."""
    lines = [line for line in text.split("\n") if line.strip()]
    lines = lines[1:] if lines and lines[0].rstrip().endswith(FILE) else lines  # `$ cat ...`
    if len(lines) > 1 or any("=" not in line for line in lines):
        raise NotUnderstoodError("not one line with name=value")
    return _WORD.findall(lines[0]) if lines else []


def _argument(word: str) -> tuple[str, str]:
    """(name, value); '' where it was given without a value."""
    name, _, value = word.replace('"', "").partition("=")
    # Linux takes `-` and `_` in names as equal (kernel/params.c).
    return name.replace("-", "_"), value


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table kernel_argument."""
    words = _of_stream(data) if is_stream(data) else _of_text(text_of(data))
    places: dict[str, int] = {}
    for word in words:
        if word == _FOR_INIT:
            return
        name, value = _argument(word)
        if _NAME.fullmatch(name):
            place = places.get(name, 0)
            places[name] = place + 1
            values: dict[str, Value] = {"name": name, "place": place, "value": value}
            yield Row("kernel_argument", values)
