"""The link of a host's network device, reconciled once: tables written by hand."""

from pathlib import Path
from typing import Any

import pytest

from lab.harness.by_hand import answers, target, with_derived

PCI = "0000:18:00.0"


def link(
    folder: Path,
    netdev: dict[str, Any],
    ethtool: dict[str, Any] | None = None,
    fec: dict[str, Any] | None = None,
    mlxlink: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What is known of ens1."""
    port = {"name": "ens1", "kind": "physical", "pci": PCI, "dev_port": 0, "port_name": "p0"}
    rows: dict[str, list[dict[str, Any]]] = {
        "target": [target("gpu1")],
        "probe_result": answers("gpu1", "pci"),
        "netdev": [{"target": "gpu1", **port, **netdev}],
    }
    for table, key, row in (
        ("ethtool_link", {"netdev": "ens1"}, ethtool),
        ("netdev_fec", {"netdev": "ens1"}, fec),
        ("mlxlink_port", {"pci": PCI}, mlxlink),
    ):
        if row is not None:
            rows[table] = [{"target": "gpu1", **key, **row}]
    with with_derived(folder, rows).database() as database:
        found = database.execute("SELECT * FROM netdev_link")
        names = [column[0] for column in found.description]
        (only,) = found.fetchall()
    return dict(zip(names, only, strict=True))


@pytest.mark.parametrize(
    ("sysfs", "ethtool", "mlxlink", "speed", "dispute"),
    [
        (400_000, 400_000, 400.0, 400_000, ""),
        (None, 400_000, None, 400_000, ""),
        (None, None, 400.0, 400_000, ""),
        (None, None, None, None, ""),
        # The speed changed between two readings.
        (100_000, 400_000, None, None, "400 by ethtool, 100 by sysfs"),
        (400_000, 400_000, 200.0, None, "400 by the driver, 200 by the firmware"),
        # Lanes of FDR are 14.0625 Gb/s; mlxlink rounds.
        (56_000, None, 56.25, 56_000, ""),
    ],
)
def test_a_speed_is_known_if_nobody_contradicts(
    sysfs: int | None,
    ethtool: int | None,
    mlxlink: float | None,
    speed: int | None,
    dispute: str,
    tmp_path: Path,
) -> None:
    found = link(
        tmp_path,
        {"speed_mbps": sysfs},
        ethtool={"speed_mbps": ethtool},
        mlxlink={"speed_gbps": mlxlink},
    )
    assert (found["speed_mbps"], found["speed_dispute"]) == (speed, dispute)


@pytest.mark.parametrize(
    ("ethtool", "carrier", "operstate", "up"),
    [
        (True, True, "up", True),
        (False, False, "down", False),
        (None, None, "lowerlayerdown", False),
        (None, None, "unknown", None),
        # It went down between two readings.
        (True, False, "down", None),
        (True, True, "down", None),
    ],
)
def test_a_link_is_up_if_nobody_contradicts(
    ethtool: bool | None, carrier: bool | None, operstate: str, up: bool | None, tmp_path: Path
) -> None:
    netdev = {"carrier": carrier, "operstate": operstate}
    assert link(tmp_path, netdev, ethtool={"link_detected": ethtool})["is_up"] is up


@pytest.mark.parametrize(
    ("ethtool", "mlxlink", "fec"),
    [
        ("RS", "RS(544,514)", "rs"),
        ("RS", None, "rs"),
        (None, "Firecode", "fc"),
        ("Off", "none", "none"),
        # ethtool does not know what is active.
        ("None", "RS(528,514)", "rs"),
        ("Off", "RS(528,514)", None),
        ("None", "", None),
    ],
)
def test_error_correction_is_known_if_nobody_contradicts(
    ethtool: str | None, mlxlink: str | None, fec: str | None, tmp_path: Path
) -> None:
    found = link(tmp_path, {}, fec={"active": ethtool}, mlxlink={"fec": mlxlink})
    assert found["fec"] == fec


def test_a_representor_is_not_what_the_firmware_tells_of(tmp_path: Path) -> None:
    netdev = {"port_name": "pf0vf1", "speed_mbps": 10_000}
    found = link(tmp_path, netdev, mlxlink={"speed_gbps": 400.0})
    assert (found["speed_mbps"], found["speed_dispute"]) == (10_000, "")


def test_of_a_function_the_firmware_tells_the_first_port(tmp_path: Path) -> None:
    found = link(tmp_path, {"dev_port": 1, "port_name": "p1"}, mlxlink={"speed_gbps": 400.0})
    assert found["speed_mbps"] is None
