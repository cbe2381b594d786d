"""`lscpu -J` (and plain `lscpu`): what kind of processors a host has.

Since util-linux 2.37 the JSON may be nested: groups have children and no data of their own. Some
names are shorter there (`L3` for `L3 cache`). Both forms and the text are read into one dictionary.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of, whole_number
from railwright.parse.host_text import whole_lines
from railwright.parse.json_text import first_object, json_at

_TEXTS = {
    "vendor": "Vendor ID",
    "model": "Model name",
    "architecture": "Architecture",
    "stepping": "Stepping",
    "online_cpus": "On-line CPU(s) list",
    "hypervisor": "Hypervisor vendor",
    "virtualization": "Virtualization",
}
_NUMBERS = {
    "sockets": "Socket(s)",
    "cores_per_socket": "Core(s) per socket",
    "threads_per_core": "Thread(s) per core",
    "cpus": "CPU(s)",
    "numa_nodes": "NUMA node(s)",
    "family": "CPU family",
    "model_number": "Model",
}
_FREQUENCIES = {"max_mhz": "CPU max MHz", "min_mhz": "CPU min MHz"}
_CACHES = ("L3 cache", "L3")
_KNOWN = frozenset({*_TEXTS.values(), *_NUMBERS.values(), *_FREQUENCIES.values(), *_CACHES})

_MHZ = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", re.ASCII)
_ERROR = re.compile(r"^lscpu: ([^\n]{1,200})", re.MULTILINE)
# What the filter on the machine puts in place of a text that may not leave it.
_DROPPED = "[dropped]"

Pairs = Iterator[tuple[str, str]]


def _pairs_of_json(text: str, at: int) -> Pairs:
    document = json_at(text, at)
    nodes = [document.get("lscpu")]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes.extend(node)
        elif isinstance(node, dict):
            nodes.append(node.get("children"))
            name, value = node.get("field"), node.get("data")
            if isinstance(name, str) and isinstance(value, str):
                yield name, text_of(value.encode("utf-8", "replace"))


def _pairs_of_text(text: str) -> Pairs:
    for line in whole_lines(text):
        name, colon, value = line.partition(":")
        if colon:
            yield name, value


def _fields(pairs: Pairs) -> dict[str, str | None]:
    """The known fields. One that is printed twice and differs is no fact: hosts with two kinds of
    core repeat `Model name` and what follows it for each kind.
    """
    fields: dict[str, str | None] = {}
    for printed, text in pairs:
        name = printed.strip().removesuffix(":")
        if name in _KNOWN:
            # `-` stands for a number that this kernel does not show.
            value = None if text.strip() in ("-", _DROPPED) else text.strip()
            fields[name] = value if fields.setdefault(name, value) == value else None
    return fields


def _mhz(text: str | None) -> float | None:
    return float(text) if text and _MHZ.fullmatch(text) else None


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table cpu: one row."""
    text = text_of(data)
    at = first_object(text)
    fields = _fields(_pairs_of_text(text) if at is None else _pairs_of_json(text, at))
    if not fields.keys() & {"Architecture", "CPU(s)"}:
        if not text.strip():
            return
        error = _ERROR.search(text)
        raise NotUnderstoodError(error[1] if error else "no field of lscpu")
    values: dict[str, Value] = {column: fields.get(name) for column, name in _TEXTS.items()}
    values |= {column: whole_number(fields.get(name)) for column, name in _NUMBERS.items()}
    values |= {column: _mhz(fields.get(name)) for column, name in _FREQUENCIES.items()}
    values["l3_text"] = next((fields[name] for name in _CACHES if name in fields), None)
    # On x86 a guest always shows its hypervisor (a bit of CPUID). Elsewhere lscpu needs files that
    # only root reads, so there silence says nothing. `Vendor ID` tells a whole output from a part.
    if "Vendor ID" in fields and str(values["architecture"]).startswith(("x86", "i686")):
        values["hypervisor"] = fields.get("Hypervisor vendor", "")
        values["virtualization"] = fields.get("Virtualization", "")
    yield Row("cpu", values)
