"""Each finding has its place: device, network device, PCI function, rail, link partner.

The fabric is the small one: gpu1's mlx5_0 is ens1 at 0000:10:10.0 on rail 0, cabled to leaf1:Ethernet0.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from by_hand import with_derived
from small_fabric import Rows, change, fabric
from typer.testing import CliRunner

from railwright.cli import program

PLACE = ("device", "port", "netdev", "pci", "switch_port", "rail", "link_partner", "partner_device")


def faulty() -> Rows:
    """gpu1's first NIC runs at x8 and has a small MTU; leaf1 has no PFC at gpu2's port."""
    rows = fabric()
    change(rows, "pci_function", {"target": "gpu1", "pci": "0000:10:10.0"}, link_width=8)
    change(rows, "netdev", {"target": "gpu1", "name": "ens1"}, mtu=1500)
    change(rows, "switch_pfc", {"target": "leaf1", "port": "Ethernet4", "priority": 3}, enabled=False)  # fmt: skip
    change(rows, "switch_port_qos", {"target": "leaf1", "port": "Ethernet4"}, pfc_priorities="", pfc_mode="off")  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, faulty())
    (folder / "site.toml").write_text('profile = "roce-lossless"\n[fabric]\nmtu = 9000\n')
    return folder


def run(store: Path, *words: str) -> str:
    done = CliRunner().invoke(program(), ["check", "--store", str(store), *words])
    assert done.exit_code in (0, 1, 3), (done.output, done.exception)
    return done.stdout


def places(store: Path, *words: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    told = json.loads(run(store, "--format", "json", *words))
    return {(one["rule"], one["subject"]): tuple(one[k] for k in PLACE) for one in told["findings"]}


def test_whatever_the_subject_is_all_its_names_are_told(store: Path) -> None:
    found = places(store, "--select", "pcie-below-port-rate", "--select", "intent-mtu", "--select", "switch-pfc-mismatch")  # fmt: skip
    host = ("mlx5_0", 1, "ens1", "0000:10:10.0", None, 0, "leaf1:Ethernet0", None)
    assert found["pcie-below-port-rate", "gpu1:0000:10:10.0"] == host
    assert found["intent-mtu", "gpu1:mlx5_0/1"] == host
    # Of a switch port: the machine behind it, its device and its rail.
    switch = (None, None, None, None, "Ethernet4", 0, "gpu2:ens1", "mlx5_0")
    assert found["switch-pfc-mismatch", "leaf1:Ethernet4"] == switch


def test_the_text_has_them_in_one_line(store: Path) -> None:
    text = run(store, "--select", "pcie-below-port-rate", "--select", "switch-pfc-mismatch")
    assert "\n                 gpu1 mlx5_0 (ens1, 0000:10:10.0), rail 0, leaf1:Ethernet0\n" in text
    assert "\n                 leaf1 Ethernet4, rail 0, gpu2:ens1 (mlx5_0)\n" in text


def test_a_cable_that_is_not_known_is_not_guessed(tmp_path: Path) -> None:
    rows = faulty()
    rows["lldp_neighbor"] = []
    rows["switch_neighbor"] = []
    with_derived(tmp_path, rows)
    found = places(tmp_path, "--select", "pcie-below-port-rate")
    assert found == {
        ("pcie-below-port-rate", "gpu1:0000:10:10.0"): ("mlx5_0", 1, "ens1", "0000:10:10.0", None, 0, None, None)
    }  # fmt: skip
