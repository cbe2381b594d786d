"""Presets of vendors: understood by the real parsers, and equal to what the vendors' tools print."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED

from lab.fleet.fabric import Fabric, Routing, Shape, Switch, answers, build
from lab.fleet.fabric.cumulus import roce
from lab.fleet.fabric.hardware import SYSTEMS
from lab.fleet.fabric.presets import SwitchPreset, switch_preset, switch_presets
from lab.fleet.fabric.sonic import config_db
from lab.fleet.presets import host_presets
from lab.fleet.presets.sourced import read
from lab.harness.switch_truth import (
    Check,
    Rows,
    check_classes,
    check_itself,
    check_ports,
    check_queues,
)
from railwright.store.ingest import parse_answer

CAPTURES = SHARED / "captures" / "sonic-config-db"
PORT = "Ethernet0"


def fabric_of(preset: SwitchPreset) -> Fabric:
    """One leaf below a spine, both in the preset."""
    mbps = 200_000 if preset.system == "onyx" else 400_000
    chosen = {preset.system: preset.name}
    return build(
        Shape(
            1, rails=1, hosts_per_leaf=1, uplinks=1, spines=1, host_mbps=mbps, uplink_mbps=mbps,
            leaf_systems=(preset.system,), spine_systems=(preset.system,), leaf_presets=chosen,
            spine_presets=chosen, models={preset.system: preset.model} if preset.model else {},
        )
    )  # fmt: skip


def leaf_of(preset: SwitchPreset) -> tuple[Fabric, Switch]:
    fabric = fabric_of(preset)
    return fabric, fabric.switches[0]


RENDERED = [one for one in switch_presets().values() if one.system in SYSTEMS]


@pytest.mark.parametrize("preset", RENDERED, ids=lambda one: f"{one.system}-{one.name}")
def test_a_preset_is_read_as_it_is(preset: SwitchPreset) -> None:
    fabric, switch = leaf_of(preset)
    rows: Rows = {}
    for probe, command, text in answers(fabric, switch, Routing(fabric)):
        found, why = parse_answer(probe, command, text.encode())
        assert why == "", command
        for row in found:
            rows.setdefault(row.table, []).append({**row.values, "probe": probe})
    checks: list[Check] = [check_itself]
    if preset.software.qos == "loaded" and preset.software.roce_mode != "none":
        checks += [check_ports, check_queues]
        checks += [check_classes] if preset.base.trust != "pcp" else []
    for check in checks:
        check(rows, fabric, switch)


def test_what_is_not_loaded_is_not_printed() -> None:
    _, switch = leaf_of(switch_preset("sonic", "generated"))
    assert sorted(config_db(switch)) == ["DEVICE_METADATA", "PORT"]


def served(tables: dict[str, Any], queue: str) -> tuple[dict[str, str], dict[str, str]]:
    """How a queue is scheduled and marks, whatever the names between are."""
    entry = tables["QUEUE"].get(queue, {})
    marks = tables["WRED_PROFILE"].get(entry.get("wred_profile", ""), {})
    return tables["SCHEDULER"].get(entry.get("scheduler", ""), {}), marks


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "capture"),
    [
        ("th5", "arista7060x6-qos"),
        ("azure", "cfggen-qos-arista7260-t0"),
        ("azure", "cfggen-qos-mellanox4600c-c64-remap-disabled"),
        ("backend-storage", "cfggen-qos-arista7050-t0-storage-backend"),
    ],
)
def test_sonic_as_its_own_generator_writes_it(name: str, capture: str) -> None:
    """Thresholds of the common template differ by SKU: presets have those of the template itself."""
    own = config_db(leaf_of(switch_preset("sonic", name))[1])
    real = json.loads((CAPTURES / f"{capture}.json").read_text())
    for table in ("DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP", "TC_TO_PRIORITY_GROUP_MAP",
                  "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"):  # fmt: skip
        assert own.get(table) == real.get(table), table
    ports = sorted({key for key in real["PORT_QOS_MAP"] if key != "global"})
    if not ports:  # the sample of storage has no ports
        return
    assert own["PORT_QOS_MAP"]["global"] == real["PORT_QOS_MAP"]["global"]
    assert own["PORT_QOS_MAP"][PORT] == real["PORT_QOS_MAP"][ports[0]]
    for queue in range(8):
        scheduler, marks = served(own, f"{PORT}|{queue}")
        real_scheduler, real_marks = served(real, f"{ports[0]}|{queue}")
        assert scheduler == real_scheduler, queue
        assert marks.keys() == real_marks.keys()
        assert name == "azure" or marks == real_marks


@pytest.mark.shared
def test_cumulus_as_nvue_prints_it() -> None:
    sample = SHARED / "formats" / "samples" / "nvue-show" / "qos-roce-lossless.json"
    _, switch = leaf_of(switch_preset("cumulus", "lossless-state"))
    assert roce(switch.settings[0], switch.software) == json.loads(sample.read_text())


def test_every_value_has_a_source() -> None:
    for preset in switch_presets().values():
        assert all(preset.sources.values()), preset.name
        assert {"trust", "mtu", "headroom", "schedulers"} <= set(preset.sources), preset.name
    for name, one in host_presets().items():
        assert set(one.values) - {"meaning", "sources"} == set(one.sources), name


@pytest.mark.parametrize(
    "text",
    [
        '[a]\nmeaning = "no source"\nmtu = 1\n',
        '[a]\nmeaning = "idle source"\nsource = "x"\nmtu = 1\n[a.sources]\ntrust = "x"\n',
        '[a]\nmeaning = "no such value"\nsource = "x"\nmut = 1\n',
    ],
)
def test_a_preset_that_does_not_say_enough_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ValueError, match="a"):
        read(tmp_path / "a.toml", ("mtu", "trust"))
