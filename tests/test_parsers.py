"""Every parser against the evidence beside this file, found by name.

A case is a pair in `tests/evidence/<parser>/`: `<case>.out` holds the bytes that the probe brought
home, `<case>.expect.json` what must come of them, one of:

    {"instance": "0000:18:00.0", "rows": [["nic_card", {"pci": "...", ...}], ...]}
    {"instance": "", "contains": [["gpu_smi", {"pci": "..."}]], "counts": {"gpu_smi": 8}}
    {"instance": "", "not_understood": "words that the error must hold"}

`rows` are all rows in order, `contains` some columns of some rows (each must fit exactly one row).
Expected values are written by hand or taken from the shared samples, never from a parser's run.
"""

import importlib
import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from railwright.parse.base import NotUnderstoodError, Row
from railwright.schema.table import tables

EVIDENCE = Path(__file__).parent / "evidence"


def named(ending: str) -> list[str]:
    """<parser>/<case> of every file with this ending."""
    return sorted(
        str(path.relative_to(EVIDENCE)).removesuffix(ending)
        for path in EVIDENCE.glob(f"*/*{ending}")
    )


CASES = named(".expect.json")
PARSERS = sorted({case.split("/", 1)[0] for case in CASES})
# The project's reference data, beside the repository; not everybody has it.
SHARED = Path(__file__).parents[2] / "shared"
SAMPLES = SHARED / "formats" / "samples"

PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "VARCHAR": (str,),
    "BIGINT": (int,),
    "INTEGER": (int,),
    "DOUBLE": (float, int),
    "BOOLEAN": (bool,),
}
BITS = {"INTEGER": 31, "BIGINT": 63}
FILLED_BY_THE_STORE = {"target", "read_at", "probe"}


def rows_of(parser: str, data: bytes, instance: str) -> list[Row]:
    """What the parser makes of an answer."""
    return list(importlib.import_module(f"railwright.parse.{parser}").parse(data, instance))


def fits(value: object, kind: str) -> bool:
    """Whether a value can be stored in a column of this type; None always can."""
    if value is None:
        return True
    if isinstance(value, bool) and kind != "BOOLEAN":
        return False  # a bool is an int for Python, not for the store
    if not isinstance(value, PYTHON_TYPES[kind]):
        return False
    if isinstance(value, str):  # the store takes UTF-8 without NUL
        return "\x00" not in value and value == value.encode("utf-8", "replace").decode()
    return kind not in BITS or -(2 ** BITS[kind]) <= value < 2 ** BITS[kind]


def assert_storable(rows: list[Row], parser: str) -> None:
    """Each row belongs to a declared table that this probe feeds, column for column."""
    keys = set()
    for row in rows:
        assert row.table in tables(), f"no schema/tables/{row.table}.toml"
        table = tables()[row.table]
        assert parser in table.probes
        types = {
            name: kind
            for name, kind in table.column_types().items()
            if name not in FILLED_BY_THE_STORE
        }
        assert set(row.values) == set(types), row.table
        for name, value in row.values.items():
            assert fits(value, types[name]), f"{row.table}.{name} = {value!r}"
        key = [row.values[part] for part in table.key if part not in FILLED_BY_THE_STORE]
        assert not key or key[0] is not None, f"{row.table}: a row about nothing"
        assert (row.table, *key) not in keys, f"{row.table}: two rows with the key {key}"
        keys.add((row.table, *key))


def matches(row: Row, table: str, part: dict[str, Any]) -> bool:
    """Whether a row has these values (others may stand beside them)."""
    return row.table == table and all(
        name in row.values and row.values[name] == value for name, value in part.items()
    )


@pytest.mark.parametrize("case", CASES)
def test_evidence(case: str) -> None:
    parser = case.split("/", 1)[0]
    data = (EVIDENCE / f"{case}.out").read_bytes()
    expect = json.loads((EVIDENCE / f"{case}.expect.json").read_text("utf-8"))
    known = {"instance", "rows", "contains", "counts", "not_understood", "note"}
    assert expect.keys() <= known, "a misspelt expectation would pass unseen"
    assert expect.keys() & {"rows", "contains", "counts", "not_understood"}

    if "not_understood" in expect:
        with pytest.raises(NotUnderstoodError) as caught:
            rows_of(parser, data, expect["instance"])
        assert expect["not_understood"] in str(caught.value)
        return

    rows = rows_of(parser, data, expect["instance"])
    assert_storable(rows, parser)
    if "rows" in expect:
        assert [[row.table, row.values] for row in rows] == expect["rows"]
    for table, part in expect.get("contains", []):
        hits = [row for row in rows if matches(row, table, part)]
        assert len(hits) == 1, f"{len(hits)} rows of {table} match {part}"
    for table, count in expect.get("counts", {}).items():
        assert sum(row.table == table for row in rows) == count, table


def test_every_output_has_its_expectation() -> None:
    assert named(".out") == CASES
    assert not [path for path in EVIDENCE.iterdir() if path.is_file()], "not in its probe's folder"


# Whatever comes: rows that can be stored, or "not understood". Never another exception, never slow.


def survive(parser: str, data: bytes) -> None:
    try:
        rows = rows_of(parser, data, "")
    except NotUnderstoodError:
        return
    assert_storable(rows, parser)


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400))
def test_any_bytes(parser: str, data: bytes) -> None:
    survive(parser, data)


def mangled(data: bytes, seed: int) -> bytes:
    """A real output with lines lost, repeated, swapped, cut and overwritten."""
    chance = random.Random(seed)
    lines = data.split(b"\n")[:400]
    how = seed % 4
    if how == 0:
        chance.shuffle(lines)
    elif how == 1:
        lines = [line for line in lines for _ in range(chance.choice((0, 1, 1, 1, 2)))]
    elif how == 2:
        lines = [line[: chance.randrange(len(line) + 1)] for line in lines]
    text = bytearray(b"\n".join(lines))
    for _ in range(chance.randrange(4)):
        if text:
            text[chance.randrange(len(text))] = chance.randrange(256)
    return bytes(text[: chance.randrange(len(text) + 1)] if how == 3 else text)


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), pick=st.integers(0, 2**16))
def test_mangled_output(parser: str, seed: int, pick: int) -> None:
    cases = [case for case in CASES if case.startswith(f"{parser}/")]
    survive(parser, mangled((EVIDENCE / f"{cases[pick % len(cases)]}.out").read_bytes(), seed))


JSON_KEYS = [
    *("lldp", "interface", "name", "chassis", "port", "id", "type", "value", "descr", "mgmt-ip"),
    *("ttl", "rid", "age", "eth0", "tlv_configuration", "device", "device_type", "description"),
    *("next_value", "current_value", "modified", "NUM_OF_VFS", "LINK_TYPE_P1"),
]
JSON_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON_TREES = st.recursive(
    JSON_LEAVES | st.sampled_from(["ETH(2)", "N/A", "[dropped]", "120"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(JSON_KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=25,
)


@pytest.mark.slow
@pytest.mark.parametrize("parser", ["lldpctl", "mlxconfig"])
@settings(max_examples=200, deadline=None)
@given(tree=JSON_TREES)
def test_any_json(parser: str, tree: object) -> None:
    root = {"lldp": tree} if parser == "lldpctl" else {"Device #1": tree, "Device #2": tree}
    survive(parser, json.dumps(root).encode())


LONG = [
    b"A" * 1_000_000,
    b"*" * 1_000_000,
    b"(1" * 500_000,
    b"_P1" * 300_000,
    b"AA " + b"1" * 1_000_000 + b"\n",
    b"AA 0x" + b"1" * 1_000_000 + b"(\n",
    b"Configurations:" + b" New Next " * 100_000,
    b"\x1b[" * 500_000,
    b"{" * 1_000_000,
    b'{"lldp":' * 100_000,
    b'{"lldp": "' + b"\\" * 1_000_000,
    b'{"lldp": ' + b"9" * 1_000_000 + b"}",
    b'<gpu id="' * 100_000,
    b"<uuid>" * 150_000,
    b"<uuid>\n" * 150_000,
    b"-E- \n" * 200_000,
    b"F 1 a\nx\n" * 100_000,
]


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
def test_long_outputs_take_linear_time(parser: str) -> None:
    for data in LONG:
        start = time.process_time()
        survive(parser, data)
        assert time.process_time() - start < 5, data[:20]  # measured: all under 1 s


# The shared samples: our rows, seen through the fields of their expectations.


def samples(command: str, pattern: str = "*") -> list[Any]:
    expects = sorted((SAMPLES / command).glob(f"{pattern}.expect.json"))
    return [pytest.param(path, id=path.name.removesuffix(".expect.json")) for path in expects]


def sample_output(expect: Path) -> bytes:
    stem = expect.name.removesuffix(".expect.json")
    found = [path for path in expect.parent.glob(f"{stem}.*") if path != expect]
    assert len(found) == 1
    return found[0].read_bytes()


def as_sample_value(values: dict[str, Any], column: str) -> dict[str, Any] | None:
    raw = values[f"{column}_text"]
    return None if raw is None else {"raw": raw, "value": values[f"{column}_code"]}


def as_sample_parameter(values: dict[str, Any]) -> dict[str, Any]:
    name = values["name"]
    name += f"_P{values['port']}" if values["port"] else ""
    name += f"[{values['element']}]" if values["element"] >= 0 else ""
    return {
        "name": name,
        "port": values["port"] or None,
        "starred": values["starred"],
        "read_only": values["read_only"],
        **{column: as_sample_value(values, column) for column in ("default", "current", "next")},
    }


def as_sample_devices(rows: list[Row]) -> list[dict[str, Any]]:
    devices: dict[Any, dict[str, Any]] = {}
    header = {"device_type": None, "part_number": None, "description": None}
    for row in rows:
        pci = row.values["pci"]
        device = devices.setdefault(pci, {"device": pci or None, **header, "params": []})
        if row.table == "nic_card":
            device.update({name: row.values[name] or "N/A" for name in header})
        else:
            device["params"].append(as_sample_parameter(row.values))
    return list(devices.values())


@pytest.mark.shared
@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no shared samples beside the repository")
@pytest.mark.parametrize("path", samples("mlxconfig"))
def test_shared_mlxconfig(path: Path) -> None:
    expect = json.loads(path.read_text("utf-8"))
    if (
        "applied" in expect or not expect["devices"]
    ):  # the table of a `set`, or nothing but an error
        words = "the table of a set" if "applied" in expect else expect["errors"][0]
        with pytest.raises(NotUnderstoodError, match=re.escape(words)):
            rows_of("mlxconfig", sample_output(path), "")
        return
    for device in expect["devices"]:
        device.pop("index")
        for parameter in device["params"]:
            parameter.setdefault("read_only", False)
            for column in ("default", "current", "next"):
                if parameter[column]:  # label and array bounds are parts of the raw text
                    parameter[column] = {key: parameter[column][key] for key in ("raw", "value")}
    assert as_sample_devices(rows_of("mlxconfig", sample_output(path), "")) == expect["devices"]


@pytest.mark.shared
@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no shared samples beside the repository")
@pytest.mark.parametrize("path", samples("lldpctl"))
def test_shared_lldpctl(path: Path) -> None:
    seen = [
        {
            "local_interface": row.values["netdev"],
            "chassis_name": row.values["system_name"] or None,
            "chassis_id": row.values["chassis_id"],
            "system_description": row.values["system_description"],
            "mgmt_ips": str(row.values["management_addresses"]).split(","),
            "port_id": row.values["port_id"],
            "port_description": row.values["port_description"],
            "ttl": row.values["ttl_s"],
        }
        for row in rows_of("lldpctl", sample_output(path), "")
    ]
    absent = {"system_description": "", "mgmt_ips": [""], "port_description": ""}
    expect = json.loads(path.read_text("utf-8"))["neighbors"]
    assert seen == [{**absent, **neighbor} for neighbor in expect]


@pytest.mark.shared
@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no shared samples beside the repository")
@pytest.mark.parametrize("path", samples("nvidia-smi", "q-x*"))
def test_shared_nvidia_smi(path: Path) -> None:
    expect = json.loads(path.read_text("utf-8"))
    rows = rows_of("nvidia_smi", sample_output(path), "")
    assert len(rows) == expect["attached_gpus"] == len(expect["gpus"])
    for row, gpu in zip(rows, expect["gpus"], strict=True):
        assert (
            row.values
            | {
                "pci": gpu["bus_id"].lower().removeprefix("0000"),
                "name": gpu["name"],
                "minor_number": gpu["minor"],
                "uuid": gpu["uuid"],
                "driver_version": expect["driver_version"],
                "cuda_version": expect["cuda_version"],
                "pcie_gen_max": gpu["max_link_gen"],
                "pcie_gen_current": gpu["current_link_gen"],
                "pcie_width_max": gpu["max_link_width"],
                "pcie_width_current": gpu["current_link_width"],
                "replay_counter": gpu["replay_counter"],
            }
            == row.values
        )
