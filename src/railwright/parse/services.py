"""`systemctl show -p Id,LoadState,ActiveState,SubState,UnitFileState` of a few services.

A block of `Key=Value` lines for each unit, an empty line between two. A unit that is not there is
shown too, with LoadState=not-found. The words are those of systemd's own tables
(src/basic/unit-def.c, src/shared/install.c); a word that is not in them is not read.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of
from railwright.parse.host_text import whole_lines

# As the allow-list of the probe has them.
_UNIT = re.compile(
    r"(?:nvidia-(?:fabricmanager|imex|persistenced)|openibd|opensmd?|lldpa?d"
    r"|doca-spcx-cc@[A-Za-z0-9_]{1,32})\.service",
    re.ASCII,
)
# Each kind of unit has its own, and each release of systemd some more: services have 20 of them.
_SUB_STATE = re.compile(r"[a-z]{1,16}(?:-[a-z]{1,16}){0,3}", re.ASCII)
_LOAD = frozenset({"stub", "loaded", "not-found", "bad-setting", "error", "merged", "masked"})
_ACTIVE = frozenset(
    {
        *("active", "reloading", "inactive", "failed", "activating", "deactivating"),
        *("maintenance", "refreshing"),
    }
)
_FILE = frozenset(
    {
        *("", "enabled", "enabled-runtime", "linked", "linked-runtime", "alias", "masked"),
        *("masked-runtime", "static", "disabled", "indirect", "generated", "transient", "bad"),
    }
)
_COLUMNS = {
    "LoadState": "load_state",
    "ActiveState": "active_state",
    "SubState": "sub_state",
    "UnitFileState": "unit_file_state",
}


def _known(key: str, word: str) -> bool:
    """Whether the word is one that systemd has for this."""
    if key == "SubState":
        return _SUB_STATE.fullmatch(word) is not None
    return word in {"LoadState": _LOAD, "ActiveState": _ACTIVE, "UnitFileState": _FILE}[key]


def _said(lines: list[str]) -> Iterator[dict[str, str]]:
    """Each block that has a line: what it says of the keys that are asked for."""
    block: dict[str, str] = {}
    for line in [*lines, ""]:
        key, equals, word = line.strip().partition("=")
        if not equals:  # an empty line, or one that stands for what was cut away
            if block:
                yield block
            block = {}
        elif (key in _COLUMNS or key == "Id") and block.setdefault(key, word) != word:
            raise NotUnderstoodError(f"{key} of one unit is printed twice and differs")


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table service, one row for each unit that was asked for."""
    text = text_of(data)
    found: dict[str, dict[str, Value]] = {}
    for block in _said(whole_lines(text)):
        unit = block.get("Id", "")
        if _UNIT.fullmatch(unit) is None:
            continue
        states: dict[str, Value] = {
            column: block[key] if key in block and _known(key, block[key]) else None
            for key, column in _COLUMNS.items()
        }
        if found.setdefault(unit, states) != states:
            raise NotUnderstoodError(f"{unit} is printed twice and differs")
    if not found:
        raise NotUnderstoodError(text.strip().partition("\n")[0][:200] or "an empty answer")
    for unit, states in found.items():
        yield Row("service", {"unit": unit, **states})
