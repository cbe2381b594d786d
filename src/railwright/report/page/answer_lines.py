"""Lines of answers that say what a finding rests on: values beside the names of its subject.

They are found by their words, so they are examples to look at, not the proof: that is the fact.
"""

import re
from typing import Any, NamedTuple

from railwright.check.explain import Answer, Explanation
from railwright.report.rule_help import command
from railwright.store.snapshot import Snapshot

MOST_BYTES = 256 << 20  # of all answers, compressed: reading more would take longer than the page
LONGEST_ANSWER = 2 << 20
MOST_ANSWERS, MOST_LINES, LONGEST_LINE = 3, 4, 200
# How files are sent: a line of kind, size and path, then what is in it (collect/runner.py).
_FILE = re.compile(r"[FL] [0-9]+ (/.*)")
_PLACES = ("pci", "netdev", "device", "name", "hop", "port", "counter")
_QUERY = (
    "SELECT stdout FROM evidence WHERE target = ? AND probe = ? AND instance = ? "
    "AND octet_length(stdout) <= ? LIMIT 1"
)


class _Wanted(NamedTuple):
    """What a line has to say."""

    names: frozenset[str]
    values: frozenset[str]
    columns: frozenset[str]  # words of the columns whose values these are


def _wanted(one: Explanation, answer: Answer) -> _Wanted:
    names, values, columns = set(), set(), set()
    for seen in one.seen:
        if seen.table not in answer.tables:
            continue
        for row, marked in zip(seen.rows, seen.deciding, strict=True):
            told = dict(zip(seen.columns, row, strict=True))
            if marked:
                names |= {str(told[name]) for name in _PLACES if told.get(name)}
            for name in marked:
                value = told[name]
                values.add(f"{value:g}" if isinstance(value, float) else str(value))
                columns |= set(name.split("_"))
    return _Wanted(frozenset(names), frozenset(values), frozenset(columns))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w.:+-]+", text))


def _said(text: str) -> list[str]:
    """Lines; a file of one line as `path: what is in it`."""
    found: list[str] = []
    path = ""
    for line in text.splitlines():
        head = _FILE.fullmatch(line)
        if head:
            path = head[1]
            continue
        if line.strip():
            found.append(f"{path}: {line}" if path else line)
        path = ""
    return found


def _matching(text: str, wanted: _Wanted, *, is_own: bool) -> list[str]:
    """Those with a value and a name; before all others those that name the column too."""
    found = []
    values = wanted.values if is_own else wanted.values - wanted.names
    for line in _said(text):
        words = _words(line) | set(re.split(r"[^\w.:]+", line))
        if not words & values or not (is_own or words & wanted.names):
            continue
        near = sum(column in line.lower() for column in wanted.columns)
        found.append((near, line))
    best = max((near for near, _ in found), default=0)
    if not best and not is_own:  # the number stands for something else there
        return []
    return [line[:LONGEST_LINE] for near, line in found if near == best][:MOST_LINES]


def lines_of(snapshot: Snapshot, explained: dict[str, Explanation]) -> dict[str, list[Any]]:
    """By key of the explanation: answers with the lines that say it."""
    if sum(file.stat().st_size for file in snapshot.path.glob("evidence/*")) > MOST_BYTES:
        return {}
    told: dict[str, list[Any]] = {}
    with snapshot.database("target", evidence=True) as database:
        for key, one in explained.items():
            for answer in one.answers:
                wanted = _wanted(one, answer)
                if not wanted.values or len(told.get(key, [])) == MOST_ANSWERS:
                    continue
                row = database.execute(
                    _QUERY, [answer.target, answer.probe, answer.instance, LONGEST_ANSWER]
                ).fetchone()
                text = bytes(row[0] or b"").decode("utf-8", "replace") if row else ""
                is_own = answer.instance in wanted.names
                if lines := _matching(text, wanted, is_own=is_own):
                    told.setdefault(key, []).append({"command": command(answer), "lines": lines})
    return told
