"""Probe `numa`: the NUMA nodes with their CPUs, memory and distances.

Files:  /sys/devices/system/node/node*/{cpulist,distance,meminfo}

What `numactl -H` prints is read as well. A node may have no CPUs (memory of a GPU, CXL) or no
memory; both are values.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of, whole_number
from railwright.parse.files import Files, read_files
from railwright.parse.host_text import cpu_count, fold, is_stream, whole_lines

NODES = "/sys/devices/system/node"

_NODE = re.compile(r"node(0|[1-9][0-9]{0,5})", re.ASCII)
_MEMORY = re.compile(r"(MemTotal|MemFree):[ \t]{1,40}([0-9]{1,15}) kB", re.ASCII)
_KB_PER_MB = 1024  # as numactl counts: it prints MB and means 2^20 bytes

_LINE = re.compile(r"\s{0,40}node ([0-9]{1,6}) (cpus|size|free):(.*)", re.ASCII)
_SIZE = re.compile(r"\s{1,40}([0-9]{1,9}) MB\s{0,40}", re.ASCII)
_NO_NUMA = re.compile(r"^No NUMA (?:support )?available on this system", re.MULTILINE)
_COLUMNS = re.compile(r"\s{0,40}node((?:\s{1,9}[0-9]{1,6})+)\s{0,40}", re.ASCII)
_DISTANCES = re.compile(r"\s{0,40}([0-9]{1,6}):((?:\s{1,9}[0-9]{1,6})+)\s{0,40}", re.ASCII)


def _node_row(node: int, cpus: str | None, total: int | None, free: int | None) -> Row:
    count = None if cpus is None else cpu_count(cpus)
    values: dict[str, Value] = {
        "node": node,
        "cpus": None if count is None else cpus,
        "cpu_count": count,
        "memory_total_mb": total,
        "memory_free_mb": free,
    }
    return Row("numa_node", values)


def _distance_rows(node: int, others: list[int], distances: list[str]) -> Iterator[Row]:
    for other, distance in zip(others, distances, strict=True):
        values: dict[str, Value] = {"node": node, "other": other, "distance": int(distance)}
        yield Row("numa_distance", values)


# ---- files


def _memory(text: str | None) -> dict[str, int]:
    found = {name: int(kilobytes) for name, kilobytes in _MEMORY.findall(text or "")}
    sizes = {name: kilobytes // _KB_PER_MB for name, kilobytes in found.items()}
    return {name: size for name, size in sizes.items() if size < 2**31}


def _rows_of_files(files: Files) -> Iterator[Row]:
    nodes = sorted(int(found[1]) for name in files.below(NODES) if (found := _NODE.fullmatch(name)))
    if not nodes:
        raise NotUnderstoodError(f"no node below {NODES}")
    for node in nodes:
        base = f"{NODES}/node{node}"
        memory = _memory(files.text(f"{base}/meminfo"))
        cpus = files.text(f"{base}/cpulist")
        yield _node_row(node, cpus, memory.get("MemTotal"), memory.get("MemFree"))
    for node in nodes:
        distances = (files.text(f"{NODES}/node{node}/distance") or "").split()
        # One number per node that is online, in their order: nodes may have gaps.
        plain = all(whole_number(distance) is not None for distance in distances)
        if plain and len(distances) == len(nodes):
            yield from _distance_rows(node, nodes, distances)


# ---- numactl -H


def _folded(text: str) -> str | None:
    words = text.split()
    numbers = [whole_number(word) for word in words if len(word) <= 6]
    plain = [number for number in numbers if number is not None]
    return fold(plain) if len(plain) == len(words) else None


def _nodes_of_text(lines: list[str]) -> dict[int, dict[str, str]]:
    nodes: dict[int, dict[str, str]] = {}
    for line in lines:
        found = _LINE.fullmatch(line)
        if found:
            said = nodes.setdefault(int(found[1]), {})
            if said.setdefault(found[2], found[3]) != found[3]:
                raise NotUnderstoodError(f"node {int(found[1])} is printed twice and differs")
    return nodes


def _megabytes(text: str | None) -> int | None:
    found = _SIZE.fullmatch(text or "")
    return int(found[1]) if found else None


def _distances_of_text(lines: list[str]) -> Iterator[Row]:
    others: list[int] = []
    done: set[int] = set()
    for line in lines:
        columns, row = _COLUMNS.fullmatch(line), _DISTANCES.fullmatch(line)
        if columns:
            numbers = [int(word) for word in columns[1].split()]
            others = numbers if len(set(numbers)) == len(numbers) else []
        elif row and int(row[1]) not in done:
            distances = row[2].split()
            if len(distances) == len(others):  # else a row that was cut
                done.add(int(row[1]))
                yield from _distance_rows(int(row[1]), others, distances)


def _rows_of_text(text: str) -> Iterator[Row]:
    lines = whole_lines(text)
    nodes = _nodes_of_text(lines)
    if not nodes and not _NO_NUMA.search(text):
        raise NotUnderstoodError("no node of numactl -H")
    for node in sorted(nodes):
        said = nodes[node]
        cpus = _folded(said["cpus"]) if "cpus" in said else None
        yield _node_row(node, cpus, _megabytes(said.get("size")), _megabytes(said.get("free")))
    yield from _distances_of_text(lines)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables numa_node and numa_distance."""
    if is_stream(data):
        yield from _rows_of_files(read_files(data))
    elif data.strip():
        yield from _rows_of_text(text_of(data))
