"""`nvidia-smi topo -m`: how GPUs and NICs are connected, as the GPU driver sees it.

A matrix with a heading, then what the words mean, then which RDMA device each NIC is. Cells are
separated by tabs, in copies by blanks; so lines are split at any white space. The heading may be
underlined with colour codes. Drivers before 470 print `mlx5_0` in the matrix instead of `NIC0`,
and no list of NICs.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of

_GPU = re.compile(r"GPU[0-9]{1,4}", re.ASCII)
_NIC = re.compile(r"NIC[0-9]{1,4}", re.ASCII)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)
_RELATION = re.compile(r"[A-Z][A-Z0-9/#]{0,7}", re.ASCII)
_NVLINKS = re.compile(r"NV([0-9]{1,3})", re.ASCII)
_NIC_LEGEND = re.compile(r"^[ \t]*(NIC[0-9]{1,4}): ([A-Za-z0-9_.-]{1,64})[ \t]*$", re.MULTILINE)
_ERROR = re.compile(r"(?:NVIDIA-SMI has failed|Failed to initialize NVML)[^\n]{0,150}")
_SELF = "X"
_NOT_AVAILABLE = "N/A"
_NO_GPUS = "No devices were found"
# The columns behind the matrix, as the heading has them; the last is of driver 535 and later.
_AFFINITIES = (
    ("CPU Affinity", "cpu_affinity"),
    ("NUMA Affinity", "numa_affinity"),
    ("GPU NUMA ID", "gpu_numa_id"),
)


def _heading(line: str) -> tuple[list[str], list[str]] | None:
    """The names of the matrix and the columns behind it; None if this line is no heading."""
    names, found, rest = line.partition("CPU Affinity")
    words = names.split()
    if not found or not words or not _GPU.fullmatch(words[0]):
        return None
    if not all(map(_NAME.fullmatch, words)) or len(set(words)) != len(words):
        return None
    behind = " ".join((found + rest).split())
    return words, [column for title, column in _AFFINITIES if title in behind]


def _affinity(gpu: str, cells: list[str], columns: list[str]) -> Row:
    """The cells behind the matrix. One too many or too few, and none can be told from another."""
    values: dict[str, Value] = {"gpu": gpu, **{column: None for _, column in _AFFINITIES}}
    if len(cells) == len(columns):
        for column, cell in zip(columns, cells, strict=True):
            values[column] = "" if cell == _NOT_AVAILABLE else cell
    return Row("gpu_affinity", values)


def _device(name: str, devices: dict[str, str]) -> str | None:
    """The RDMA device behind a name: '' for a GPU, None for a NIC that the list does not have."""
    if _GPU.fullmatch(name):
        return ""
    return devices.get(name) if _NIC.fullmatch(name) else name


def _relation(a: str, b: str, relation: str, devices: dict[str, str]) -> Row:
    nvlinks = _NVLINKS.fullmatch(relation)
    values: dict[str, Value] = {
        "a": a,
        "b": b,
        "a_device": _device(a, devices),
        "b_device": _device(b, devices),
        "relation": relation,
        "nvlinks": int(nvlinks[1]) if nvlinks else 0,
    }
    return Row("gpu_topology", values)


def _matrix(text: str, devices: dict[str, str]) -> Iterator[Row]:
    """The rows below the heading, as far as they are whole."""
    names: list[str] = []
    columns: list[str] = []
    for line in text.split("\n")[:-1]:  # the last may be cut: NV18 reads as NV1
        heading = _heading(line)
        if heading is not None:
            names, columns = heading
            continue
        words = line.split()
        relations = words[1 : len(names) + 1]
        if not names or not words or words[0] not in names or len(relations) != len(names):
            continue
        if not all(map(_RELATION.fullmatch, relations)):
            continue
        name = words[0]
        for other, relation in zip(names, relations, strict=True):
            if relation != _SELF:
                yield _relation(name, other, relation, devices)
        if _GPU.fullmatch(name):
            yield _affinity(name, words[len(names) + 1 :], columns)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 - one answer per host
    """Rows of gpu_topology and gpu_affinity; none where the driver finds no GPU."""
    text = text_of(data)
    whole = text[: text.rfind("\n") + 1]
    devices: dict[str, str] = {}
    for nic, device in _NIC_LEGEND.findall(whole):
        if devices.setdefault(nic, device) != device:
            raise NotUnderstoodError(f"{nic} is printed twice and differs")
    rows: dict[tuple[Value, ...], Row] = {}
    for row in _matrix(text, devices):
        parts = ("a", "b") if row.table == "gpu_topology" else ("gpu",)
        key = (row.table, *(row.values[part] for part in parts))
        if rows.setdefault(key, row) != row:
            raise NotUnderstoodError(f"{key[1]} is printed twice and differs")
    if not rows and not text.strip().startswith(_NO_GPUS):
        error = _ERROR.search(text)
        raise NotUnderstoodError(error[0].strip() if error else "no matrix of GPUs")
    return iter(rows.values())
