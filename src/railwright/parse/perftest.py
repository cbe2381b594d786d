"""ib_write_bw, ib_write_lat, ib_read_bw and the others of perftest: parameters, results, errors.

Framed by dashes: a title, parameters (one or two on a line), addresses, a heading, rows. The
heading names columns and unit. Of one text each title begins a part; a second title before any
result is the other side of the same run (both sides in one log, their lines mixed): what the two
say differently of themselves is then left out.

Formats follow perftest's src/perftest_parameters.[ch].
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.mlx_text import INTEGER_BITS, cached_number, whole_number
from railwright.parse.nccl_launcher import plain_text, whole_lines

_TITLE = re.compile(r"\s*([A-Z][A-Za-z_]{2,20} (?:[A-Za-z_]{1,20} ){0,6}Test)\s*")
_PARAMETER = re.compile(
    r"\b(Dual-port|Device|Number of qps|Transport type|Connection type|Using SRQ|PCIe relax order"
    r"|TX depth|RX depth|Post List|CQ Moderation|Mtu|Link type|GID index|Max inline data"
    r"|Outstand reads|rdma_cm QPs|TOS)[ \t]{0,20}: (\S{1,64})"
)
_OTHER_PARAMETER = re.compile(r"\s*[A-Za-z_*.\- ]{3,20}[ \t]{0,20}: \S")
_ADDRESS = re.compile(r"\s*(local|remote) address: LID (0x[0-9a-fA-F]{1,4}|[0-9a-fA-F]{4})\b")
_GID = re.compile(r"\s*GID: ((?:[0-9]{1,3}:){15}[0-9]{1,3})\s*", re.ASCII)
_WARNING = re.compile(
    r"\s*(?:WARNING:?|Warning:?)?\s*((?:BW peak won't|Conflicting CPU frequency"
    r"|Requested mtu is higher|Device not recognized)[^\n]{0,200})"
)
_OTHER_WARNING = re.compile(r"\s*W(?:ARNING|arning):?\s+([^\n]{1,200})")
_ERROR = re.compile(
    r"\b(?:[Ee]rror|ERROR|[Ff]ailed|[Cc]ouldn't|[Cc]ould not|Unable to|Cannot|not found"
    r"|state is|Unexpected CM event)\b"
)
# How an error begins that ends a run before its title (perftest_communication.c, _resources.c).
_EARLY_ERROR = re.compile(
    r"\s*(?:Couldn't|Could not|Unable to|Failed|Cannot|Port number|IB device|Unexpected CM event)\b"
)
_STATUS = re.compile(
    r"Failed status(?:-[^\n(]{1,100}\(| )([0-9]{1,3})\)?:(?:[^\n]{0,40} syndrom 0x([0-9a-f]{1,8}))?"
)
_GPU = re.compile(r"device name = \[([^\]\n]{1,100})\]")
_BANNER = "Waiting for client to connect"
_DMABUF = "using DMA-BUF for GPU buffer"
_NO_PEAK = "BW peak won't be measured"
_DASHES = "-" * 20
_WIDEST = 1000  # characters of a line that is read
_MOST = 100_000  # rows, and titles, that are read; a run that never ends prints 20,000 a day
_LONGEST = 500  # characters of all errors, or warnings, of one run

# Columns of the heading; the last alternative is for one that we do not know.
_COLUMN = re.compile(
    r"#bytes|#sl|#iterations|BW (?:peak|average)\[(?P<unit>[A-Za-z/]{3,8})\]"
    r"|MsgRate\[Mpps\]|BW Port[12]\[[A-Za-z/]{3,8}\]|MsgRate Port[12]\[Mpps\]"
    r"|[0-9.]{1,7}% percentile\[usec\]|t_[a-z]{1,12}\[usec\]|tps average|\S{1,30}\[[^\]\n]{1,12}\]"
)
_RESULTS = {
    "#bytes": "bytes",
    "#sl": "service_level",
    "#iterations": "iterations",
    "BW peak": "bw_peak_gbps",
    "BW average": "bw_average_gbps",
    "MsgRate[Mpps]": "message_rate_mpps",
    "t_min[usec]": "latency_min_us",
    "t_max[usec]": "latency_max_us",
    "t_typical[usec]": "latency_typical_us",
    "t_avg[usec]": "latency_average_us",
    "t_stdev[usec]": "latency_stdev_us",
    "99% percentile[usec]": "latency_p99_us",
    "99.9% percentile[usec]": "latency_p999_us",
    "tps average": "transactions_per_s",
}
_NO_RESULT: dict[str, Value] = dict.fromkeys(_RESULTS.values())
_WHOLE = {"bytes": 63, "iterations": 63, "service_level": INTEGER_BITS}
# perftest counts megabytes of 2**20 bytes, whether it prints MB (until 2022) or MiB.
_TO_GBPS = {"Gb/sec": 1.0, "MB/sec": 8.388608 / 1000, "MiB/sec": 8.388608 / 1000}


def _text(value: str) -> Value:
    return value


def _number(value: str) -> Value:
    return whole_number(value.removesuffix("[B]"), INTEGER_BITS)


def _switch(value: str) -> Value:
    return {"ON": True, "OFF": False}.get(value)


_PARAMETERS: dict[str, tuple[str, Callable[[str], Value]]] = {
    "Device": ("device", _text),
    "Transport type": ("transport", _text),
    "Connection type": ("connection", _text),
    "Link type": ("link_type", _text),
    "Number of qps": ("qps", _number),
    "Mtu": ("mtu", _number),
    "GID index": ("gid_index", _number),
    "TX depth": ("tx_depth", _number),
    "RX depth": ("rx_depth", _number),
    "Post List": ("post_list", _number),
    "CQ Moderation": ("cq_moderation", _number),
    "Max inline data": ("max_inline_bytes", _number),
    "Outstand reads": ("outstanding_reads", _number),
    "TOS": ("tos", _number),
    "Dual-port": ("dual_port", _switch),
    "Using SRQ": ("shared_receive_queue", _switch),
    "PCIe relax order": ("relaxed_ordering", _switch),
    "rdma_cm QPs": ("rdma_cm", _switch),
}


class _Heading(NamedTuple):
    """The columns of a table: how many, and which word of a row goes where."""

    width: int
    plan: list[tuple[int, str, float | None]]


class _Part(NamedTuple):
    """What one run said. Sets: what is said twice and differs is no fact."""

    titles: list[str]
    said: dict[str, set[str]]
    headings: list[_Heading]
    units: list[str]
    rows: list[dict[str, Value]]
    errors: list[str]
    warnings: list[str]
    marks: set[str]


def _new_part() -> _Part:
    return _Part([], {}, [], [], [], [], [], set())


def _is_empty(part: _Part) -> bool:
    return not (part.titles or part.errors)


def _gid(text: str) -> str | None:
    """The kernel's eight groups of four hex digits, of sixteen decimal bytes."""
    numbers = [int(number) for number in text.split(":")]
    if max(numbers) > 255:
        return None
    return ":".join(f"{a:02x}{b:02x}" for a, b in zip(numbers[::2], numbers[1::2], strict=True))


def _heading(part: _Part, line: str) -> None:
    """Remember the columns; the unit of bandwidth, or microseconds, counts for all rows below."""
    columns, unit = [], "usec"
    for found in _COLUMN.finditer(line):
        unit = found["unit"] or unit
        columns.append(found[0].partition("[")[0] if found["unit"] else found[0])
    factor = _TO_GBPS.get(unit)
    plan = []
    for place, title in enumerate(columns):
        column = _RESULTS.get(title)
        if column is not None and (factor or not title.startswith("BW ")):
            plan.append((place, column, factor if title.startswith("BW ") else None))
    if any(column not in _WHOLE for _, column, _ in plan):
        part.headings.append(_Heading(len(columns), plan))
        part.units.append(unit)


def _result(heading: _Heading, line: str) -> dict[str, Value] | None:
    """One row; None if it is not as wide as the heading or holds anything but numbers."""
    words = line.split()
    if len(words) != heading.width:
        return None
    numbers = [cached_number(word) for word in words]
    if None in numbers:
        return None
    values: dict[str, Value] = _NO_RESULT.copy()
    for place, column, factor in heading.plan:
        number = numbers[place]
        if column in _WHOLE:
            values[column] = whole_number(words[place], _WHOLE[column])
        elif factor is not None and number is not None:
            values[column] = round(number * factor, 6)
        else:
            values[column] = number
    if values["bw_peak_gbps"] == 0 and values["bw_average_gbps"]:  # not measured, as with -D
        values["bw_peak_gbps"] = None
    return values if values["bytes"] is not None else None


def _note(part: _Part, line: str, side: str) -> str:
    """What stands on a line that is neither title nor row; gives the side of an address."""
    parameters = _PARAMETER.findall(line)
    for name, value in parameters:
        part.said.setdefault(_PARAMETERS[name][0], set()).add(value)
    if address := _ADDRESS.match(line):
        part.said.setdefault(f"{address[1]}_lid", set()).add(address[2])
        return address[1]
    if side and (gid := _GID.fullmatch(line)):
        part.said.setdefault(f"{side}_gid", set()).add(_gid(gid[1]) or "")
    elif gpu := _GPU.search(line):
        part.said.setdefault("gpu_name", set()).add(gpu[1])
    elif _BANNER in line:
        part.marks.add(_BANNER)
    elif _DMABUF in line:
        part.marks.add(_DMABUF)
    elif warning := _WARNING.match(line) or _OTHER_WARNING.match(line):
        part.warnings.append(warning[1].strip())
    elif not parameters and not _OTHER_PARAMETER.match(line) and _ERROR.search(line):
        part.errors.append(line.strip()[:200])
    return ""


def _parts(lines: list[str]) -> list[_Part]:
    """The runs of a text. What stands before a title belongs to its run, an error to the last."""
    parts: list[_Part] = []
    before, current, side = _new_part(), None, ""
    read = 0
    for line in lines:
        if not 4 <= len(line) <= _WIDEST:
            continue
        if read > _MOST:
            raise NotUnderstoodError(f"more than {_MOST} rows")
        if title := _TITLE.fullmatch(line):
            if current is None or current.rows or current.errors:
                current, before = before, _new_part()
                parts.append(current)
            current.titles.append(title[1])
            read += 10
        elif current and "#bytes" in line and "#iterations" in line:
            _heading(current, line)
        elif current and current.headings and (row := _result(current.headings[-1], line)):
            current.rows.append(row)
            read += 1
        elif current and current.rows and line.startswith(_DASHES):
            current.marks.add(_DASHES)
        else:
            if current and current.rows and _BANNER in line:  # the next run's, without dashes
                current.marks.add(_DASHES)
            ended = current is None or current.errors or _DASHES in current.marks
            here = before if ended and not (current and _ERROR.search(line)) else current
            side = _note(here or before, line, side)
    return parts if _is_empty(before) else [*parts, before]


def _failed_early(lines: list[str]) -> bool:
    """Whether most lines are errors of perftest: words of failure stand in any command's output."""
    said = [line for line in lines if line.strip()]
    return 2 * sum(1 for line in said if _EARLY_ERROR.match(line)) >= len(said)


def _once(texts: list[str]) -> str:
    return "; ".join(dict.fromkeys(texts))[:_LONGEST]


def _side(part: _Part, values: dict[str, Value]) -> str | None:
    """server waits; only a client, or both in a bidirectional test, has a depth of sending."""
    if len(part.titles) != 1:
        return None
    if _BANNER in part.marks:
        return "server"
    one_way = "Bidirectional" not in part.titles[0]
    return "client" if one_way and values["tx_depth"] is not None else None


def _agreed(part: _Part, column: str) -> str:
    """What was said of a parameter; '' where nothing was, or two things."""
    said = part.said.get(column)
    return next(iter(said)) if said is not None and len(said) == 1 else ""


def _run_row(key: dict[str, Value], part: _Part) -> Row:
    values: dict[str, Value] = {"test": part.titles[0] if len(set(part.titles)) == 1 else None}
    for column, read in _PARAMETERS.values():
        said = _agreed(part, column)
        values[column] = read(said) if said else None
    for column in ("local_lid", "remote_lid"):
        said = _agreed(part, column)
        values[column] = int(said, 16) if said else None
    for column in ("local_gid", "remote_gid", "gpu_name"):
        values[column] = _agreed(part, column) or None
    uses_gpu = values["gpu_name"] is not None
    status = _STATUS.search("\n".join(part.errors))
    values |= {
        "side": _side(part, values),
        "dmabuf": True if _DMABUF in part.marks else False if uses_gpu else None,
        "unit": part.units[0] if len(set(part.units)) == 1 else None,
        "warning": _once(part.warnings),
        "error": _once(part.errors),
        "error_status": int(status[1]) if status else None,
        "error_vendor": int(status[2], 16) if status and status[2] else None,
    }
    return Row("perftest_run", {**key, **values})


def _result_rows(key: dict[str, Value], part: _Part) -> Iterator[Row]:
    rows = part.rows
    if len(part.titles) > 1:  # both sides print the same rows
        rows = list({tuple(row.items()): row for row in rows}.values())
    no_peak = any(_NO_PEAK in warning for warning in part.warnings)
    for place, values in enumerate(rows, start=1):
        if no_peak:
            values["bw_peak_gbps"] = None
        yield Row("perftest_result", {**key, "place": place, **values})


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Rows of perftest_run and perftest_result."""
    lines = whole_lines(plain_text(data))
    parts = _parts(lines)
    is_perftest = any(part.titles or part.marks for part in parts)
    if not parts or not (is_perftest or _failed_early(lines)):
        raise NotUnderstoodError("no title of a test and no error")
    for number, part in enumerate(parts, start=1):
        key: dict[str, Value] = {"run": instance, "part": number}
        yield _run_row(key, part)
        yield from _result_rows(key, part)
