"""`railwright show`: the findings of a machine, marks where they are, and what a switch does not tell."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from conftest import REPOSITORY
from rich.console import Console
from typer.testing import CliRunner, Result

from lab.harness.by_hand import answers, target, with_derived
from lab.harness.small_fabric import Rows, change, fabric
from railwright.check.machine import OfMachine, of_machine
from railwright.check.rule import shipped
from railwright.check.run import Choice, checked, chosen
from railwright.check.tables import HERE
from railwright.cli import program
from railwright.errors import UsageError
from railwright.intent.site import load_site
from railwright.report.host import print_host
from railwright.report.screen import Screen
from railwright.store.lookup import find
from railwright.toml import load_toml

CLOSED = "Connection to 10.88.240.3 closed."


def with_faults() -> Rows:
    """gpu2: a narrow NIC; leaf1: an MTU of 1500 and PFC off; spine1: trust that nobody collected."""
    rows = fabric()
    change(rows, "pci_function", {"target": "gpu2", "pci": "0000:11:10.0"}, link_width=8)
    change(rows, "switch_port", {"target": "leaf1", "port": "Ethernet8"}, mtu=1500)
    change(
        rows, "switch_pfc", {"target": "leaf1", "port": "Ethernet0", "priority": 3}, enabled=False
    )
    change(rows, "switch_port_qos", {"target": "spine1", "port": "Ethernet1/1"}, trust=None)
    change(rows, "target", {"target": "spine1"}, words=CLOSED, noise_bytes=103, noise="Last login")
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, with_faults())
    (folder / "site.toml").write_text('profile = "roce-lossless"\n')
    return folder


@pytest.fixture(scope="module")
def seen(store: Path) -> Iterator[dict[str, OfMachine]]:
    """One check, for all machines."""
    site = load_site(store / "site.toml")
    with checked(find(store, None), chosen(Choice(), site), site, []) as findings:
        yield {name: of_machine(findings, name) for name in findings.targets()}


def shown(store: Path, name: str, of: OfMachine | None = None, width: int = 0) -> str:
    """As printed, in a pipe or on a terminal."""
    raw = io.StringIO()
    console = Console(
        file=raw, width=width or 10_000, force_terminal=bool(width), color_system=None
    )
    site = load_site(store / "site.toml")
    print_host(Screen(console), find(store, None), name, site=site, of=of)
    return raw.getvalue()


def run(store: Path, *words: str) -> Result:
    return CliRunner().invoke(program(), ["show", *words, "--store", str(store)])


# ---- findings and marks


def test_a_host_lists_its_findings(store: Path) -> None:
    done = run(store, "gpu2")
    assert done.exit_code == 0
    assert "\n1 finding: 1 medium; " in done.stdout
    line = "  medium pcie-below-port-rate at mlx5_1 (0000:11:10.0): PCIe carries 229.9 Gb/s; "
    assert f"\n{line}its ports run at 400 Gb/s\n" in done.stdout
    assert (
        "Next: railwright explain pcie-below-port-rate --subject gpu2:0000:11:10.0" in done.stderr
    )


def test_the_value_that_is_at_fault_is_marked_and_no_other(
    store: Path, seen: dict[str, OfMachine]
) -> None:
    odd = [line for line in shown(store, "gpu2", seen["gpu2"]).splitlines() if " !" in line]
    assert len(odd) == 1
    assert "11:10.0  mlx5_1  Gen5 x8 of x16 !  ens2 " in odd[0]
    odd = [
        line.split() for line in shown(store, "leaf1", seen["leaf1"]).splitlines() if " !" in line
    ]
    assert odd == [
        ["Ethernet0", "up", "400G", "rs", "9216", "dscp", "none", "!", "gpu1", "ens1"],
        ["Ethernet8", "up", "400G", "rs", "1500", "!", "dscp", "3", "spine1", "Ethernet1/1"],
    ]
    assert " !" not in shown(store, "gpu1", seen["gpu1"])


def test_without_a_check_nothing_is_marked(store: Path) -> None:
    done = run(store, "gpu2", "--no-check")
    assert done.exit_code == 0
    assert "Gen5 x8 of x16  ens2" in done.stdout
    assert "finding" not in done.stdout
    assert " !" not in done.stdout


def test_every_mark_is_that_of_a_rule() -> None:
    cells = load_toml((HERE / "marks.toml").read_text("utf-8"), "marks.toml")
    named = [name for rules in cells.values() for name in rules]
    assert set(named) <= set(shipped())
    assert len(named) == len(set(named))


# ---- switches


def test_a_switch_says_what_nobody_knows_of_it(store: Path, seen: dict[str, OfMachine]) -> None:
    text = shown(store, "spine1", seen["spine1"])
    assert "LLDP neighbor\n" in text
    assert "\nNot reported by eos: buffer pools, cable length, headroom, headroom need, " in text
    assert "\nNot collected (?): trust\n" in text
    assert "nothing" not in text.lower()
    assert CLOSED not in text
    assert "Last login" not in text
    assert "calls itself" not in text
    assert "hostname spine1" in text


def test_a_switch_that_failed_keeps_its_words(tmp_path: Path) -> None:
    rows = {"target": [target("sw1", "refused", words=CLOSED, kind="switch")]}
    with_derived(tmp_path, rows)
    (tmp_path / "site.toml").write_text("")
    assert CLOSED in shown(tmp_path, "sw1")


@pytest.mark.parametrize("name", ["gpu2", "leaf1", "leaf2", "spine1", "spine2"])
def test_it_fits_a_terminal_and_nothing_is_cut(
    name: str, store: Path, seen: dict[str, OfMachine]
) -> None:
    lines = shown(store, name, seen[name], 80).splitlines()
    assert max(map(len, lines)) <= 80
    cut = [line for line in lines if line.endswith("…")]
    assert [line for line in cut if ", …" not in line and line.strip() != "…"] == []
    if name.startswith("leaf"):  # all columns are there, in blocks where they do not fit
        narrow = "\n".join(shown(store, name, seen[name], 40).splitlines())
        assert "LLDP neighbor" in narrow
        assert "gpu1 ens" in narrow


# ---- names


@pytest.mark.parametrize(
    ("typed", "name"), [("GPU1", "gpu1"), ("gpu1:mlx5_0", "gpu1"), ("Leaf1:Ethernet4", "leaf1")]
)
def test_a_machine_by_what_people_type(typed: str, name: str, store: Path) -> None:
    assert run(store, typed, "--no-check").stdout.startswith(f"{name}: reached")


def test_a_slip_is_met_with_near_names(store: Path) -> None:
    error = run(store, "gpu01", "--no-check").exception
    assert isinstance(error, UsageError)
    assert error.what == "no host or switch 'gpu01' in snapshot 2026-11-14T2215Z"
    assert error.why == "Did you mean gpu1 or gpu2?"


# ---- a machine without RDMA


def test_a_laptop_has_one_line(tmp_path: Path) -> None:
    own = {"target": "laptop"}
    rows: Rows = {
        "target": [target("laptop")],
        "host": [{**own, "hostname": "laptop", "kernel": "6.8.0"}],
        "probe_result": answers("laptop", "pci", "netdev", infiniband="absent"),
    }
    with_derived(tmp_path, rows)
    (tmp_path / "site.toml").write_text("")
    text = run(tmp_path, "laptop", "--no-check").stdout
    assert "\nNo RDMA NIC on this host.\n" in text
    done = CliRunner().invoke(program(), ["facts", "--store", str(tmp_path)])
    assert "\nNo RDMA NIC on any of these hosts" in done.stdout
    assert "no RDMA device" not in done.stdout
    assert "no PCIe switch" not in done.stdout


# ---- for programs


def test_json_tells_the_findings_that_check_tells(store: Path) -> None:
    schema = json.loads((REPOSITORY / "docs/schemas/show-1.json").read_text("utf-8"))
    checked = CliRunner().invoke(program(), ["check", "--format", "json", "--store", str(store)])
    expected = json.loads(checked.stdout)["findings"]
    for name, kind in (("gpu2", "host"), ("leaf1", "switch")):
        done = run(store, name, "--json")
        data = json.loads(done.stdout)
        jsonschema.validate(data, schema)
        assert (data["kind"], data["exit_status"], done.exit_code) == (kind, 0, 0)
        found = {(one["rule"], one["subject"], one["state"]) for one in data["findings"]}
        assert found == {
            (one["rule"], one["subject"], one["state"]) for one in expected if one["target"] == name
        }
        assert found
    mtu = {one["port"]: one["mtu"] for one in data["ports"]}
    assert mtu["Ethernet8"] == 1500
    bare = json.loads(run(store, "gpu2", "--json", "--no-check").stdout)
    jsonschema.validate(bare, schema)
    assert bare["checked"] is False
    widths = {one["pci"]: one["width"] for one in bare["pci_functions"]}
    assert widths["0000:11:10.0"] == 8
