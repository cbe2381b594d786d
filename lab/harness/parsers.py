"""Every parser under fire: mutated outputs, and outputs that grow.

Mutations are made by hypothesis from the evidence cases of tests/evidence. Growth: CPU time of this
process with cold caches, in turns.
"""

import gc
import importlib
import json
import math
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from railwright.parse.base import NotUnderstoodError, Row
from railwright.schema.table import tables

EVIDENCE = Path(__file__).parents[2] / "tests" / "evidence"
SIZES = (500_000, 1_000_000, 2_000_000)
SHORTEST = 0.02  # seconds: below this a ratio says nothing about the parser
_ENTRY = re.compile(rb"([FCLES]) ([0-9]+) ([^\n]*)\n")


def parsers() -> list[str]:
    """All that have evidence."""
    return sorted({path.parent.name for path in EVIDENCE.glob("*/*.out")})


def parse(parser: str, data: bytes) -> list[Row] | None:
    """The rows, or None for an answer that is not understood; every other exception is a fault."""
    function = importlib.import_module(f"railwright.parse.{parser}").parse
    try:
        return list(function(data, ""))
    except NotUnderstoodError:
        return None


def check(parser: str, rows: list[Row] | None) -> None:
    """Rows are of tables that this parser may fill, with their columns."""
    for row in rows or ():
        table = tables()[row.table]
        assert parser in table.probes, (parser, row.table)
        assert set(row.values) <= set(table.column_types()), row.table


# ---- mutated


def _splice(first: bytes, second: bytes, at: int, length: int) -> bytes:
    """One output with a piece of another in its middle."""
    where = at % (len(first) + 1)
    start = at % (len(second) + 1)
    return first[:where] + second[start : start + length] + first[where + length // 2 :]


def _reordered(data: bytes, order: list[int]) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join(lines[at % len(lines)] for at in order)


def mutations(parser: str) -> st.SearchStrategy[bytes]:
    """Outputs of this parser and of others: cut, spliced, overwritten, with lines moved about."""
    own = [path.read_bytes()[:20_000] for path in sorted((EVIDENCE / parser).glob("*.out"))]
    picked = st.sampled_from(own)
    place, length = st.integers(0, 20_000), st.integers(0, 400)
    spliced = st.builds(_splice, picked, picked, place, length)
    overwritten = st.builds(_splice, picked, st.binary(max_size=40), place, length)
    lines = st.builds(_reordered, picked, st.lists(st.integers(0, 2_000), max_size=60))
    cut = st.builds(lambda data, at: data[: at % (len(data) + 1)], picked, place)
    return st.one_of(spliced, overwritten, lines, cut, st.binary(max_size=300))


def fuzz(parser: str, examples: int) -> None:
    """Raises what the parser raises, with the smallest input that does it."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(data=mutations(parser))
    def run(data: bytes) -> None:
        check(parser, parse(parser, data))

    run()


# ---- grown


def _grown_stream(data: bytes, size: int) -> bytes:
    """The same files under other names, again and again."""
    entries, at = [], 0
    while at < len(data):
        found = _ENTRY.match(data, at)
        if found is None:
            break
        end = found.end() + int(found[2])
        entries.append((found[1], found[3], data[found.end() : end]))
        at = end + 1
    parts, total, copy = [], 0, 0
    while total < size and entries:
        for kind, path, body in entries:
            head, _, rest = path.rpartition(b"/")
            name = b"%s%d/%s" % (head, copy, rest) if copy else path
            parts.append(b"%s %d %s\n%s\n" % (kind, len(body), name, body))
            total += len(parts[-1])
        copy += 1
    return b"".join(parts)


def _longest_list(value: object) -> list[object] | None:
    found: list[object] | None = None
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list) and one and len(json.dumps(one)) > len(json.dumps(found or [])):
            found = one
        if isinstance(one, list | dict):
            waiting += one if isinstance(one, list) else list(one.values())
    return found


def _grown_json(data: bytes, size: int) -> bytes | None:
    try:
        tree = json.loads(data)
    except ValueError:
        return None
    longest = _longest_list(tree)
    if longest is not None:
        longest[:] = longest * max(1, size // max(len(json.dumps(longest)), 1))
    elif isinstance(tree, dict):
        items = list(tree.items())
        for number in range(1, size // max(len(data), 1)):
            tree.update((f"{key}{number}", value) for key, value in items)
    return json.dumps(tree).encode()


def grown(parser: str, size: int) -> bytes:
    """The longest understood output of a parser, made to last `size` bytes."""
    outputs = sorted((EVIDENCE / parser).glob("*.out"), key=lambda path: -path.stat().st_size)
    for path in outputs:
        data = path.read_bytes()
        if data and parse(parser, data):
            break
    if _ENTRY.match(data):
        return _grown_stream(data, size)
    if data.lstrip()[:1] in (b"{", b"["):
        made = _grown_json(data, size)
        if made is not None:
            return made
    copies = max(1, size // max(len(data), 1))
    for end in (b"\n", b"\n\n"):  # an empty line between, where an answer is made of blocks
        made = (data.rstrip(b"\n") + end) * copies
        if parse(parser, made):
            return made
    # One line that is twice as long, where two lines are not understood.
    return b" ".join([data.strip()] * copies)


def _forget() -> None:
    """Empty every cache of the parsers: a host's first answer has none."""
    for name, module in list(sys.modules.items()):
        if name.startswith("railwright.parse"):
            for part in vars(module).values():
                getattr(part, "cache_clear", lambda: None)()


def cost(parser: str, data: bytes) -> float:
    """CPU seconds of one parse, without Python's own collections of garbage."""
    _forget()
    gc.disable()
    try:
        began = time.process_time()
        parse(parser, data)
        return time.process_time() - began
    finally:
        gc.enable()


def growth(parser: str, sizes: Sequence[int] = SIZES) -> tuple[float, float]:
    """CPU seconds of the largest input at best, and the factor per doubling over both doublings.

    The sizes are measured in turns, and the best of five counts for each: what else the machine
    does can only add to a cost.
    """
    inputs = [grown(parser, size) for size in sizes]
    rounds = [[cost(parser, data) for data in inputs] for _ in range(5)]
    first, last = (min(costs[at] for costs in rounds) for at in (0, -1))
    return last, math.sqrt(last / first) if last > SHORTEST else 0.0
