"""Outputs that others published, read in place: each parses or is not understood, none raises.

What is expected was read in the captures by hand (captures_facts.json), never taken from a parser's
run. docs/captures-review.md tells the same in words.
"""

import importlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from captures_snapshot import (
    CAPTURES,
    PARSERS,
    TREES,
    WITHOUT_PARSER,
    Capture,
    build,
    counts,
    saved_outputs,
    trees,
)
from test_parsers import assert_storable, matches, rows_of

from railwright.parse.base import NotUnderstoodError, Row
from railwright.schema.table import tables
from railwright.store.snapshot import Snapshot

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CAPTURES.is_dir(), reason="no shared captures beside the repository"),
]

EVERY = list(saved_outputs()) if CAPTURES.is_dir() else []
SMALL = 200_000  # bytes; larger captures are read by their own parser only

ONYX = "nothing about ports, priorities or the switch"
NOT_UNDERSTOOD = {
    # Names of hosts, each with a bare GUID: somebody's own list, made of ibstat's output.
    "superbench-topo-aware.txt": "no output of ibstat",
    "onyx_facts_show_module.cfg": ONYX,
    "onyx_interfaces_rates.cfg": ONYX,
    "onyx_lldp_interface_show.cfg": ONYX,
    "onyx_mlag_show.cfg": ONYX,
    "onyx_ospf_interfaces_show.cfg": ONYX,
    "onyx_wjh_show.cfg": ONYX,
    # Three configurations, one level deeper than a switch prints one, and a key twice: see test_every_table.
    "yang-sample_config_db.json": "RULE0 is printed twice and differs",
}

BY_HAND = json.loads((Path(__file__).parent / "captures_facts.json").read_text("utf-8"))

# lspci -vvv of an H100 host: column -> value -> rows, counted with grep
H100_COUNTS: dict[str, dict[Any, int]] = {
    "driver": {"mlx5_core": 12, "nvidia": 8, "nvidia-nvswitch": 4, "pcieport": 78, "": 382},
    "numa_node": {0: 261, 1: 256},
    "port_type": {"rc_endpoint": 370, "endpoint": 43, "switch_downstream": 38, "root_port": 11},
    "link_speed_gts": {32.0: 64, 16.0: 33, 5.0: 5},
    "says_downgraded": {True: 16, False: 86},
    "max_read_request": {4096: 52, 512: 5, 128: 435},
    "relaxed_ordering": {True: 85, False: 407},
    "correctable_error": {True: 26, False: 466},
    "acs": {"present": 55},
    "acs_request_redirect": {True: 4, False: 51},
    "vf_limit": {16: 8, 32: 8, 8: 4},
    "part_number": {"MCX75310AAS-NEAT": 8, "MCX623106AN-CDAT": 4, "BCM95720": 2},
}


def capture_of(name: str) -> Capture:
    """The capture with this file name, or folder and file name."""
    found = [one for one in EVERY if str(one.file).endswith(f"/{name}")]
    assert len(found) == 1, f"{len(found)} captures are named {name}"
    return found[0]


def parsed(capture: Capture) -> list[Row]:
    return rows_of(capture.kind, capture.file.read_bytes(), capture.instance)


def assert_one(rows: list[Row], table: str, part: dict[str, Any]) -> None:
    hits = [row for row in rows if matches(row, table, part)]
    assert len(hits) == 1, f"{len(hits)} rows of {table} match {part}"


def test_every_folder_has_a_parser_or_a_reason() -> None:
    folders = {path.name for path in CAPTURES.iterdir() if path.is_dir()}
    assert folders == {*PARSERS, *WITHOUT_PARSER, TREES}
    told = {
        one.file.parent.name for one in map(capture_of, [name for name, *_ in BY_HAND["facts"]])
    }
    assert told == PARSERS.keys() - {"ibstat"}, "a folder without facts"
    # Joined snapshots keep one answer per host and probe: each capture is a host of its own.
    assert len({(one.target, one.kind) for one in EVERY}) == len(EVERY)


@pytest.mark.parametrize(
    "capture", EVERY, ids=lambda one: f"{one.file.parent.name}/{one.file.name}"
)
def test_capture(capture: Capture) -> None:
    words = NOT_UNDERSTOOD.get(capture.file.name)
    if words:
        with pytest.raises(NotUnderstoodError, match=words):
            parsed(capture)
        return
    rows = parsed(capture)
    assert rows
    assert_storable(rows, capture.kind)
    found = Counter(row.table for row in rows)
    for table, count in BY_HAND["counts"].get(capture.file.name, {}).items():
        assert found[table] == count, table


@pytest.mark.parametrize(("name", "table", "part"), [fact[:3] for fact in BY_HAND["facts"]])
def test_fact(name: str, table: str, part: dict[str, Any]) -> None:
    assert_one(parsed(capture_of(name)), table, part)


def test_h100_host() -> None:
    rows = parsed(capture_of("gpud-h100-host-vvv.txt"))
    for column, expected in H100_COUNTS.items():
        found = Counter(row.values[column] for row in rows)
        assert {value: found[value] for value in expected} == expected, column
    nics = [row.values for row in rows if row.values["part_number"] == "MCX75310AAS-NEAT"]
    assert {(one["link_speed_gts"], one["link_width"]) for one in nics} == {(32.0, 16)}


def test_every_table_of_sonic() -> None:
    """The sample of SONiC's own schema tests, one level down: a table of every kind."""
    whole = json.loads(capture_of("yang-sample_config_db.json").file.read_bytes())
    inner = json.dumps(whole["SAMPLE_CONFIG_DB_JSON"]).encode()
    rows = rows_of("sonic_config_db", inner, "")
    assert_storable(rows, "sonic_config_db")
    assert Counter(row.table for row in rows)["switch_port"] == 41 + 4  # ports, port channels
    assert_one(rows, "switch_priority_group", {"port": "Ethernet9", "priority_group": 3})
    assert_one(rows, "switch_buffer_pool", {"size_percent": 90.0})


# Another command's output, with all its numbers and names, must not pass for one's own.

ALL_PARSERS = sorted({probe for table in tables().values() for probe in table.probes})
BESIDE = {
    ("nccl-tests", "nccl_log"),  # a message of NCCL stands in five of them
    ("lspci", "pci_config"),  # functions of which no byte was printed: rows that say just that
}


@pytest.mark.parametrize("folder", [*PARSERS, *WITHOUT_PARSER])
def test_no_other_parser_takes_it(folder: str) -> None:
    others = [
        name for name in ALL_PARSERS if name != PARSERS.get(folder) and (folder, name) not in BESIDE
    ]
    for file in sorted((CAPTURES / folder).iterdir()):
        data = file.read_bytes()
        if not data or len(data) > SMALL:
            continue
        for name in others:
            parse = importlib.import_module(f"railwright.parse.{name}").parse
            try:
                rows = list(parse(data, ""))
            except NotUnderstoodError:
                continue
            pytest.fail(f"{name} takes {file.name} for its own: {rows[:2]}")


# Files of /sys and /proc.


@pytest.fixture(scope="module")
def tree_rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """target/probe -> rows"""
    found = {}
    for one in trees(tmp_path_factory.mktemp("trees")):
        rows = rows_of(one.kind, one.file.read_bytes(), "")
        assert_storable(rows, one.kind)
        found[f"{one.target}/{one.kind}"] = rows
    return found


@pytest.mark.parametrize(("answer", "table", "part"), [fact[:3] for fact in BY_HAND["trees"]])
def test_tree_fact(
    answer: str, table: str, part: dict[str, Any], tree_rows: dict[str, list[Row]]
) -> None:
    assert_one(tree_rows[answer], table, part)


# One snapshot of them, through the front door.

# What the front door's filters do not let through, or what no probe reads: not checked here.
BEHIND_THE_DOOR = {"carbide": "lldp_neighbor", "gpud-kmsg": "kernel_message"}
GIVEN_BY_HAND = {"eos_show", "nccl_log", "nccl_tests", "onyx_show", "perftest", "sonic_config_db"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder: Path = tmp_path_factory.mktemp("captures")
    built, left_out = build(folder / "store", folder)
    assert {one.kind for one in left_out} <= GIVEN_BY_HAND
    return built


@pytest.mark.timeout(900)  # 34 imports and a merge: a minute of two cores
def test_snapshot(snapshot: Snapshot) -> None:
    found, expected = counts(snapshot), BY_HAND["snapshot"]
    for target, table in BEHIND_THE_DOOR.items():
        found.get(target, {}).pop(table, None)
    assert {target: found.get(target) for target in expected} == expected
    with snapshot.database() as database:
        strange = database.execute(
            "SELECT target, probe, status, reason FROM probe_result "
            "WHERE status <> 'ok' AND probe <> 'lldpctl'"
        ).fetchall()
    # Nothing of /dev/kmsg passes the filter of dmesg: not read is not "no messages".
    assert ("gpud-kmsg", "dmesg", "not understood") in [row[:3] for row in strange]
    strange = [row for row in strange if row[1] != "dmesg"]
    assert [row[:3] for row in strange if row[0] == "superbench"] == [
        ("superbench", "infiniband", "not understood")
    ]
    assert all(target == "superbench" or probe in GIVEN_BY_HAND for target, probe, *_ in strange)
