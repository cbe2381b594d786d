"""The tables that SONiC's `show` commands print: a heading, a line of dashes, rows.

    Port Rx    PFC0    PFC1           Profile: AZURE_LOSSLESS
-----------  ------  ------           -------------------  -------
  Ethernet0       0   1,204           green_max_threshold  3000000
                                      -------------------  -------
The dashes span the columns. Blank lines mean nothing: they do not survive every copy. Copies
through chat and web pages also lose blanks at the left and between columns.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_RULE = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})*[ \t]*", re.ASCII)
_DASHES = re.compile(r"-{2,}", re.ASCII)
_WIDE_GAP = re.compile(r"[ \t]{2,}", re.ASCII)
# Units stand apart from their number: `44.12 GB/s`.
_UNIT = re.compile(r"(?<=[0-9])[ \t](?=[KMGTP]?[Bb]/s\b)", re.ASCII)
_NAMED = re.compile(r"(Profile|Pool)(?: for namespace (\w{1,32}))?: (\S{1,200})", re.ASCII)
# Headings with a blank in them, joined so that a heading is a word. Longer ones come first.
_HEADINGS = {
    heading: heading.replace(" ", "_")
    for heading in (
        *("Port Rx", "Port Tx", "Asym PFC", "Lossless priorities", "Auto-Neg Mode"),
        *("Rmt Adv Speeds", "Adv Speeds", "Adv Types", "FEC Oper", "FEC Admin"),
        *("DETECTION TIME", "RESTORATION TIME", "STORM DETECTED/RESTORED"),
        *("TX LAST OK/DROP", "RX LAST OK/DROP", "TX OK/DROP", "RX OK/DROP"),
        *("RX Pause Transitions", "Total RX Pause Time MS", "Recent RX Pause Time MS"),
        "Recent RX Pause Timestamp",
    )
}
_HEADING = re.compile(rf"(?:{'|'.join(map(re.escape, _HEADINGS))})(?!\S)")
# The only columns whose cells may have blanks in them, one at most in each table.
_WORDY = frozenset({"Type", "RemotePortDescr", "Recent_RX_Pause_Timestamp"})
# A neighbor may have sent no name, no description; a port may have no lossless priority. All
# other cells hold at least N/A.
_MAY_BE_EMPTY = frozenset({"RemoteDevice", "Capability", "RemotePortDescr", "Lossless_priorities"})


class Block(NamedTuple):
    """A table: the line before its heading, its headings, its line of dashes, its rows."""

    before: str
    columns: tuple[str, ...]
    rule: str
    lines: list[str]


class Fields(NamedTuple):
    """A table of two columns under a name, with dashes at both ends."""

    kind: str  # Profile or Pool
    name: str
    fields: dict[str, str]


@lru_cache(maxsize=256)  # `show queue counters` prints the same heading for each port
def _columns(heading: str) -> tuple[str, ...]:
    """The headings of a table, each one word."""
    one_blank = " ".join(heading.split())
    return tuple(_HEADING.sub(lambda match: _HEADINGS[match[0]], one_blank).split(" "))


def _is_rule(line: str) -> bool:
    return "--" in line and _RULE.fullmatch(line) is not None


def _has_columns(rule: str) -> bool:
    """A line of dashes without gaps is the end of a table, not its beginning."""
    return len(rule.split(None, 1)) > 1


def whole_lines(text: str) -> list[str]:
    """The lines, without a last one that may have been cut: 236 reads as 23.

    A row is whole where it ends under the last dash.
    """
    *lines, last = text.split("\n")
    if last.strip():
        rule = next(filter(_is_rule, reversed(lines)), "")
        if rule and len(last.rstrip()) == len(rule.rstrip()):
            lines.append(last)
    return [line for line in lines if line and not line.isspace()]


def _fields(kind: str, asic: str | None, name: str, lines: list[str]) -> Fields:
    pairs = (line.split(None, 1) for line in lines)
    fields = {pair[0]: pair[1].strip() if len(pair) == 2 else "" for pair in pairs}
    return Fields(kind, f"{asic}|{name}" if asic else name, fields)


def blocks(lines: list[str]) -> Iterator[Block | Fields]:
    """The tables among the lines."""
    rules = [at for at, line in enumerate(lines) if _is_rule(line)]
    ends = [*rules, len(lines)][1:]
    is_closing = False
    for at, end in zip(rules, ends, strict=True):
        heading = lines[at - 1] if at else ""
        if is_closing or not heading or not _has_columns(lines[at]):
            is_closing = False
            continue
        named = _NAMED.fullmatch(heading.strip())
        if named:
            # Without the same dashes below it was cut, and what is missing is not known.
            is_closing = end < len(lines) and lines[end].split() == lines[at].split()
            if is_closing:
                yield _fields(named[1], named[2], named[3], lines[at + 1 : end])
            continue
        is_followed = end < len(lines) and _has_columns(lines[end])
        before = lines[at - 2] if at >= 2 else ""
        rows = lines[at + 1 : end - 1 if is_followed else end]
        yield Block(before.strip(), _columns(heading), lines[at], rows)


def _sliced(line: str, rule: str) -> list[str] | None:
    """The cells under the dashes; None where something stands between the columns."""
    found, end = [], 0
    for match in _DASHES.finditer(rule):
        if line[end : match.start()].strip():
            return None
        found.append(line[match.start() : match.end()].strip())
        end = match.end()
    return None if line[end:].strip() else found


def _counted(words: list[str], columns: tuple[str, ...]) -> list[str]:
    """The cells of a row whose blanks were lost, where only one column holds several words."""
    extra = len(words) - len(columns)
    wordy = [at for at, column in enumerate(columns) if column in _WORDY]
    if extra <= 0 or len(wordy) != 1:
        return words
    at = wordy[0]
    return [*words[:at], " ".join(words[at : at + extra + 1]), *words[at + extra + 1 :]]


def _readings(block: Block, line: str) -> Iterator[list[str] | None]:
    """The cells of a row, as they may be meant; the surest first."""
    is_countable = "RemoteDevice" not in block.columns  # an empty cell would shift the others
    if is_countable:
        yield line.split()
    yield _sliced(line, block.rule)
    yield _WIDE_GAP.split(line.strip())
    if is_countable:
        yield _counted(_UNIT.sub("", line).split(), block.columns)


def cells(block: Block, line: str) -> dict[str, str] | None:
    """A row by its headings; None for a line that is no whole row of this table."""
    for found in _readings(block, line):
        if found is not None and len(found) == len(block.columns):
            row = dict(zip(block.columns, found, strict=True))
            if all(row.values()) or all(row[name] or name in _MAY_BE_EMPTY for name in row):
                return row
    return None
