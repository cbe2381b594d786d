"""all_reduce_perf and the others of nccl-tests: who took part, a row per size, how it ended.

Lines that begin with # are comments. Which columns there are says the heading with `size`: older
releases have no root, `error` instead of `#wrong`, and no operation for gathers; new ones can add
columns per iteration and a time stamp. Without a root a time of 10000 would be taken for one, so
the heading decides. Formats follow nccl-tests' src/common.cu and src/util.cu.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.mlx_text import INTEGER_BITS, cached_number, whole_number
from railwright.parse.nccl_launcher import plain_text, whole_lines

_PARAMETERS = re.compile(
    r"#\s{0,8}nThread ([0-9]{1,9}) nGpus ([0-9]{1,9}) minBytes ([0-9]{1,19}) maxBytes ([0-9]{1,19})"
    r"(?: step: \S{1,30})?(?: warmup iters: ([0-9]{1,9}))?(?: iters: ([0-9]{1,9}))?"
    r"(?: agg iters: [0-9]{1,9})?(?: validation: ([0-9]{1,9}))?"
)
_RANK = re.compile(
    r"#\s{1,8}Rank\s{1,8}([0-9]{1,8})\s{1,8}(?:Group\s{1,8}[0-9]{1,9}\s{1,8})?"
    r"Pid\s{1,9}[0-9]{1,9}\s{1,8}on\s{1,60}([!-~]{1,253})\s{1,8}device\s{1,8}([0-9]{1,6})"
    r"\s{1,8}\[[0-9a-fx:.]{1,20}\] ([^\n]{1,100})"
)
_STARTING = re.compile(r"# Collective test starting: ([A-Za-z0-9_.-]{1,64})")
_TESTS_VERSION = re.compile(
    r"# nccl-tests version ([0-9A-Za-z.+-]{1,40}) nccl-headers=[0-9]{1,9} nccl-library=([0-9]{5,7})"
)
_NCCL_VERSION = re.compile(r"(?:^|NCCL INFO )NCCL version ([0-9][0-9A-Za-z.+_-]{1,60})")
_OUT_OF_BOUNDS = re.compile(r"# Out of bounds values\s{0,8}: ([0-9]{1,19}) ([A-Z]{2,8})")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s{0,8}: (\S{1,30})")
_FAILURE = re.compile(r"Test (?:[A-Z]{2,8} )?failure [^\n]{1,200}")
_HOST = re.compile(r"[A-Za-z0-9_.-]{1,253}")
_ERROR = re.compile(r"# error: ([^\n]{1,200})")
_TYPE = re.compile(r"[a-z][a-z0-9_]{1,30}")
_GAP = re.compile(r"#?\s{0,8}\(?\.\.\.\)?\s{0,8}")

# Words of the heading -> column, with "out_" or "in_" before those that come twice.
_ONCE = {"size": "bytes", "count": "count", "type": "type", "redop": "operation", "root": "root"}
_TWICE = {
    "time": "time_us",
    "cputime": "time_us",
    "algbw": "algbw_gbs",
    "busbw": "busbw_gbs",
    "#wrong": "wrong",
    "error": "error",
}
_COLUMNS = (
    *_ONCE.values(),
    *(f"{way}_{column}" for way in ("out", "in") for column in dict.fromkeys(_TWICE.values())),
)
# In the order of _PARAMETERS; behind them stands the validation.
_NUMBERS = (
    "threads",
    "gpus_per_thread",
    "min_bytes",
    "max_bytes",
    "warmup_iterations",
    "iterations",
)
_WIDEST = 2000
_LONGEST = 500


class _Rank(NamedTuple):
    host: str
    device: int
    gpu: str


class _Part(NamedTuple):
    """One run: what its comments said, its ranks, headings, rows and failures."""

    said: dict[str, Value]
    ranks: dict[int, _Rank]
    headings: list[list[str]]
    rows: list[dict[str, Value]]
    failures: list[tuple[str, str]]


def _release(code: str) -> str:
    """2.27.7 of 22707, the way NCCL numbers its releases."""
    number = int(code)
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def _who(before: str) -> str:
    """The host of 'ember-h001: Test ...' or ' .. ember-h001 pid 41024: Test ...'; '' if none."""
    words = before.rstrip(": ").split()
    host = words[-3] if len(words) > 2 and words[-2] == "pid" else "".join(words[-1:])
    return host if _HOST.fullmatch(host) else ""


def _comment(part: _Part, line: str) -> None:
    """What a line beside the table says of the run."""
    said = part.said
    if rank := _RANK.match(line):
        part.ranks[int(rank[1])] = _Rank(rank[2], int(rank[3]), rank[4].strip())
    elif parameters := _PARAMETERS.match(line):
        numbers = [whole_number(text) for text in parameters.groups()]
        said |= dict(zip(_NUMBERS, numbers, strict=False))
        said["validation"] = None if numbers[-1] is None else numbers[-1] > 0
    elif starting := _STARTING.match(line):
        said["test"] = starting[1]
    elif versions := _TESTS_VERSION.match(line):
        said |= {"tests_version": versions[1], "nccl_version": _release(versions[2])}
    elif version := _NCCL_VERSION.search(line):
        said["nccl_version"] = version[1]
    elif found := _OUT_OF_BOUNDS.match(line):
        said |= {"out_of_bounds": whole_number(found[1]), "out_of_bounds_verdict": found[2]}
    elif average := _AVERAGE.match(line):
        said["average_busbw_gbs"] = cached_number(average[1])
    elif error := _ERROR.match(line):
        part.failures.append(("", error[1].strip()))
    elif failure := _FAILURE.search(line):
        part.failures.append((_who(line[: failure.start()]), failure[0].strip()))


def _heading(line: str) -> list[str] | None:
    """The columns of the table; None if this is not its heading. Unknown ones are ''."""
    words = line.lstrip("# \t").split()
    if words[:2] != ["size", "count"] or "busbw" not in words:
        return None
    columns, seen = [], set()
    for word in words:
        column = _ONCE.get(word, "")
        if word in _TWICE:
            column = f"{'in' if word in seen else 'out'}_{_TWICE[word]}"
            seen.add(word)
        columns.append("timestamp" if word == "timestamp" else column)
    return [*columns, ""] if columns[-1] == "timestamp" else columns  # date and time: two words


def _cells(columns: list[str], words: list[str]) -> dict[str, str] | None:
    """Column -> cell. Two sorts of cells are left empty, and then have no word of their own:

    the operation in gathers of old releases, and out-of-place where only in-place was run.
    """
    out_of_place = [column for column in columns if column.startswith("out_")]
    for empty in (["operation"], out_of_place):
        if empty and len(words) == len(columns) - len(empty) and set(empty) <= set(columns):
            at = columns.index(empty[0])
            following = words[at] if at < len(words) else ""
            if cached_number(following) is None:  # not empty: two other cells are glued together
                return None
            words = [*words[:at], *[""] * len(empty), *words[at:]]
            break
    if len(words) != len(columns):
        return None
    return dict(zip(columns, words, strict=True))


def _value(column: str, cell: str) -> Value:
    """A cell as its column wants it. N/A (nothing was checked) and nan are not read."""
    if column in ("type", "operation"):
        return cell
    if column in ("bytes", "count"):
        return whole_number(cell)
    number = cached_number(cell)
    if column == "root" or column.endswith("_wrong"):
        bits = INTEGER_BITS if column == "root" else 63
        return int(number) if number is not None and abs(number) < 2**bits else None
    return number


def _row(columns: list[str], line: str) -> dict[str, Value] | None:
    """A row of the table; None for anything else that stands in between."""
    cells = _cells(columns, line.split())
    if cells is None or not _TYPE.fullmatch(cells.get("type", "")):
        return None
    values: dict[str, Value] = dict.fromkeys(_COLUMNS)
    for column, cell in cells.items():
        if column in values:
            values[column] = _value(column, cell)
    measured = values["out_busbw_gbs"] is not None or values["in_busbw_gbs"] is not None
    return values if values["bytes"] is not None and measured else None


def _begins(line: str, part: _Part) -> bool:
    """Whether a line is the first of another run's text."""
    if line.startswith("# nccl-tests version "):
        return bool(part.said or part.rows or part.failures)
    if line.startswith(("# nThread ", "# Collective test starting")):
        return bool(part.rows or part.failures)
    return False


def _parts(lines: list[str]) -> Iterator[_Part]:
    part = _Part({}, {}, [], [], [])
    for line in lines:
        if _GAP.fullmatch(line) and not part.headings:
            part.said["ranks_before_gap"] = len(part.ranks)
        if not 6 <= len(line) <= _WIDEST:
            continue
        if line.startswith("#"):
            if _begins(line, part):
                yield part
                part = _Part({}, {}, [], [], [])
            columns = _heading(line)
            if columns is not None:
                part.headings.append(columns)
                part.said["cpu_time"] = "cputime" in line
                continue
        elif part.headings and (row := _row(part.headings[-1], line)):
            part.rows.append(row)
            continue
        _comment(part, line)
    yield part


def _nodes(ranks: dict[int, _Rank], count: int) -> int | None:
    """How many hosts. Long lists are often cut: then by the ranks of the first host.

    Only where that host is listed whole (the next rank is another's), one rank for each device,
    and divides the ranks.
    """
    if len(ranks) == count:
        return len({rank.host for rank in ranks.values()})
    first = next(iter(ranks.values())).host
    numbers = sorted(number for number, rank in ranks.items() if rank.host == first)
    here = sorted(ranks[number].device for number in numbers)
    whole = list(range(len(here)))
    if len(here) not in ranks or numbers != whole or here != whole or count % len(here):
        return None
    return count // len(here)


def _run_row(key: dict[str, Value], part: _Part) -> Row:
    said, ranks = part.said, part.ranks
    # Rows left out behind the last rank: nobody knows how many.
    is_open = said.get("ranks_before_gap") == len(ranks)
    count = max(ranks) + 1 if ranks and not is_open else None
    listed = [ranks[number] for number in sorted(ranks)]
    names = (
        *("test", "tests_version", "nccl_version", "threads", "gpus_per_thread", "min_bytes"),
        *("max_bytes", "warmup_iterations", "iterations", "validation", "cpu_time"),
        *("average_busbw_gbs", "out_of_bounds", "out_of_bounds_verdict"),
    )
    values: dict[str, Value] = {
        **key,
        **{name: said.get(name) for name in names},
        "ranks": count,
        "nodes": None if count is None else _nodes(ranks, count),
        "hosts": ",".join(dict.fromkeys(rank.host for rank in listed)) if ranks else None,
        "gpu_name": ", ".join(dict.fromkeys(rank.gpu for rank in listed)) if ranks else None,
        "failure": "; ".join(dict.fromkeys(text for _, text in part.failures))[:_LONGEST],
        "failure_hosts": ",".join(dict.fromkeys(host for host, _ in part.failures if host)),
    }
    return Row("nccl_run", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of nccl_run and nccl_result."""
    parts = [
        part
        for part in _parts(whole_lines(plain_text(data)))
        if part.ranks or part.headings or part.failures or "threads" in part.said
    ]
    if not parts:
        raise NotUnderstoodError("neither a heading nor a rank nor a failure of nccl-tests")
    for number, part in enumerate(parts, start=1):
        key: dict[str, Value] = {"run": instance, "part": number}
        yield _run_row(key, part)
        for place, values in enumerate(part.rows, start=1):
            yield Row("nccl_result", {**key, "place": place, **values})
