"""Healthy hosts of real server models, read by the runner: what is there is what those servers have.

Counts are by hand, from the reference data about servers.
"""

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
from typer.testing import CliRunner, Result

from lab.fleet import HostModel
from lab.fleet.healthy import HEALTHY
from lab.harness.fleets import Reading, evidence_of, snapshot_of
from railwright.check.rule import shipped
from railwright.cli import program

pytestmark = [pytest.mark.root, pytest.mark.timeout(900)]
HOSTS = 4


class Counts(NamedTuple):
    """What one host has."""

    gpus: int
    nics: int  # network functions of all vendors
    rdma: int  # devices that the host's own namespace sees
    netdevs: int  # with the loopback
    product: str


COUNTS = {
    # 8 ConnectX-7, 2 x 2 ConnectX-6 Dx, 2 gigabit ports; one VLAN.
    "dell_xe9680": Counts(8, 14, 12, 16, "PowerEdge XE9680"),
    # 8 rails, 2 storage ports, 1 management port.
    "hgx_h100_slaac": Counts(8, 11, 10, 12, "SYS-821GE-TNHR"),
    # A BlueField-2, an OCP card and the board's own, two ports each.
    "storage_r750": Counts(0, 6, 2, 7, "PowerEdge R750"),
    # 8 rails, 2 x 2 BlueField-3, 4 bridges; an E810 of 2 ports, an X550; one bond.
    "dgx_b200": Counts(8, 19, 16, 21, "DGXB200"),
    # 8 ConnectX-8, 2 x 2 BlueField-3, 4 bridges, an X550; Data Direct is no NIC.
    "hgx_b300": Counts(8, 17, 16, 18, "Super Server"),
    # 8 rails and two front-end ports, of which one is the way in.
    "mi300x": Counts(8, 10, 10, 11, "ORACLE SERVER GPU"),
    # 8 cards of two functions, and the same front end.
    "oci_h100": Counts(8, 18, 18, 19, "ORACLE SERVER GPU"),
    # Pods hold the rails: 2 storage ports and the management port are left.
    "kubernetes_moved": Counts(8, 11, 2, 4, "SYS-821GE-TNHR"),
    # 8 cards of two ports, a bond and an RDMA device of each; the management port.
    "hgx_h100_bonded": Counts(8, 17, 8, 26, "SYS-821GE-TNHR"),
    # 4 ConnectX-7 and 2 x 2 BlueField-3.
    "gb200_tray": Counts(4, 8, 8, 9, "GB200 NVL"),
    # 4 ConnectX-7 and the management port.
    "pcie_l40s": Counts(8, 5, 4, 6, "AS -4125GS-TNRT2"),
    # 8 rails, an E810 of two ports with irdma, its bond; the board's port is not in use.
    "hgx_h100_e810": Counts(8, 11, 10, 13, "SYS-821GE-TNHR"),
}
by_model = pytest.mark.parametrize("model", HEALTHY)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reading]:
    """What four hosts of each model say."""
    hosts = [build(number) for build in HEALTHY.values() for number in range(1, HOSTS + 1)]
    return evidence_of(tmp_path_factory.mktemp("healthy"), hosts)


@pytest.fixture(scope="module")
def facts(
    tmp_path_factory: pytest.TempPathFactory, evidence: dict[str, Reading]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """All in one snapshot."""
    snapshot = snapshot_of(tmp_path_factory.mktemp("all") / "store", evidence)
    with snapshot.database() as database:
        yield database


def _names(model: str) -> list[str]:
    return [HEALTHY[model](number).name for number in range(1, HOSTS + 1)]


def _counted(facts: duckdb.DuckDBPyConnection, model: str, query: str) -> dict[str, int]:
    """Rows of each host of a model."""
    found = dict.fromkeys(_names(model), 0)
    rows = facts.execute(f"SELECT target, count(*) FROM {query} GROUP BY target").fetchall()
    return found | {target: count for target, count in rows if target in found}


def test_every_model_is_counted() -> None:
    assert COUNTS.keys() == HEALTHY.keys()


@by_model
def test_a_model_says_what_it_rests_on(model: str) -> None:
    assert HEALTHY[model].basis in ("capture", "document")
    assert HEALTHY[model].source


@by_model
def test_dmi_names_the_server(model: str) -> None:
    dmi = HEALTHY[model](1).dmi
    assert dmi is not None
    assert dmi.product_name == COUNTS[model].product


def _identities(host: HostModel) -> list[str]:
    """Everything that only one host, port, card or module in the world has."""
    netdevs = [*host.nics, *(n for n in host.netdevs if n.address)]
    found = [host.name, host.boot_id, *(n.permanent_mac or n.mac for n in netdevs)]
    # A VLAN has the MAC and hence the link-local address of its port.
    own = [n for n in (*host.nics, *host.netdevs) if n.netdev != "lo" and not n.lower]
    found += [text for n in own for text in n.addresses]
    found += [text for n in host.nics for text in n.dynamic]
    found += [nic.guid for nic in host.nics]
    found += [nic.optic.serial for nic in host.nics if nic.optic.kind != "none"]
    found += [f"{n.neighbor.chassis} {n.neighbor.port}" for n in netdevs if n.neighbor]
    cards = {(nic.serial, nic.image_guid) for nic in host.nics}
    found += [serial for serial, _ in cards]
    return found + [text for gpu in host.gpus for text in (gpu.serial, gpu.uuid)]


def test_no_two_healthy_hosts_share_an_identity() -> None:
    hosts = [build(number) for build in HEALTHY.values() for number in (1, 2, 250)]
    found = Counter(text for host in hosts for text in _identities(host))
    assert {text: count for text, count in found.items() if count > 1} == {}


@by_model
def test_parts_are_there(facts: duckdb.DuckDBPyConnection, model: str) -> None:
    counts = COUNTS[model]
    expected = {
        # Display and 3D controllers of NVIDIA, accelerators of AMD; a board's own VGA is neither.
        "pci_function WHERE class LIKE '0302%' OR class LIKE '1200%'": counts.gpus,
        "pci_function WHERE class LIKE '02%'": counts.nics,
        "rdma_device": counts.rdma,
        "netdev": counts.netdevs,
        "ip_link": counts.netdevs,
    }
    for query, count in expected.items():
        assert _counted(facts, model, query) == dict.fromkeys(_names(model), count), query


def _first(facts: duckdb.DuckDBPyConnection, model: str, query: str) -> list[tuple[object, ...]]:
    """Rows about the first host of a model."""
    return facts.execute(query, [HEALTHY[model](1).name]).fetchall()


def test_the_bridges_of_an_xe9680_are_those_of_the_capture(
    facts: duckdb.DuckDBPyConnection,
) -> None:
    """59 bridges, none of them empty; two front-end cards beside GPU 0 and GPU 4."""
    bridges = _first(
        facts, "dell_xe9680",
        "SELECT count(*), count(c.pci) FROM pci_function b LEFT JOIN (SELECT DISTINCT target, "
        "parent AS pci FROM pci_function) c USING (target, pci) "
        "WHERE target = ? AND b.class = '060400'",
    )  # fmt: skip
    assert bridges == [(59, 59)]
    near = _first(
        facts, "dell_xe9680",
        "SELECT c.pci, g.pci FROM pci_function c "
        "JOIN pci_function p ON (p.target, p.pci) = (c.target, c.parent) "
        "JOIN pci_function o ON (o.target, o.parent) = (p.target, p.parent) "
        "JOIN pci_function g ON (g.target, g.parent) = (o.target, o.pci) "
        "WHERE c.target = ? AND c.device = '101d' AND g.device = '2330' ORDER BY ALL",
    )  # fmt: skip
    assert near == [
        ("0000:1b:00.0", "0000:19:00.0"),
        ("0000:1b:00.1", "0000:19:00.0"),
        ("0000:9d:00.0", "0000:9b:00.0"),
        ("0000:9d:00.1", "0000:9b:00.0"),
    ]


def test_functions_that_look_like_nics(facts: duckdb.DuckDBPyConnection) -> None:
    """NVLink management is InfiniBand by its class and DOWN; Data Direct is not even a NIC."""
    bridges = _first(
        facts, "dgx_b200",
        "SELECT DISTINCT f.device, f.class, p.state FROM pci_function f JOIN rdma_device d "
        "ON (d.target, d.pci) = (f.target, f.pci) "
        "JOIN rdma_port p ON (p.target, p.device) = (d.target, d.device) "
        "WHERE f.target = ? AND d.device IN ('mlx5_0', 'mlx5_1', 'mlx5_2', 'mlx5_3')",
    )  # fmt: skip
    assert bridges == [("1021", "020700", "DOWN")]
    direct = _first(
        facts, "hgx_b300",
        "SELECT count(*), count(d.device) FROM pci_function f LEFT JOIN rdma_device d "
        "USING (target, pci) WHERE target = ? AND f.device = '2100' AND f.class = '080100'",
    )  # fmt: skip
    assert direct == [(8, 0)]


def test_parts_of_a_gb200_differ_by_their_domain_alone(facts: duckdb.DuckDBPyConnection) -> None:
    rows = _first(
        facts, "gb200_tray",
        "SELECT d.device, d.pci FROM rdma_device d WHERE target = ? ORDER BY d.device",
    )  # fmt: skip
    assert rows == [
        ("mlx5_0", "0000:03:00.0"),
        ("mlx5_1", "0002:03:00.0"),
        ("mlx5_2", "0006:03:00.0"),
        ("mlx5_3", "0006:03:00.1"),
        ("mlx5_4", "0010:03:00.0"),
        ("mlx5_5", "0012:03:00.0"),
        ("mlx5_6", "0016:03:00.0"),
        ("mlx5_7", "0016:03:00.1"),
    ]


def test_every_rail_of_a_slaac_host_has_a_default_route(facts: duckdb.DuckDBPyConnection) -> None:
    rows = _first(
        facts, "hgx_h100_slaac",
        "SELECT count(DISTINCT netdev) FROM route WHERE target = ? AND destination = 'default' "
        "AND protocol = 'ra'",
    )  # fmt: skip
    assert rows == [(8,)]


def test_no_two_sources_disagree(facts: duckdb.DuckDBPyConnection) -> None:
    """Of a healthy host everything is told alike by all who see it."""
    assert facts.execute("SELECT * FROM disagreement").fetchall() == []


@by_model
def test_every_answer_is_understood(facts: duckdb.DuckDBPyConnection, model: str) -> None:
    """No status but ok, and absent where a host has no such thing."""
    marks = ", ".join("?" * HOSTS)
    rows = facts.execute(
        "SELECT DISTINCT probe, instance, status, reason FROM probe_result "
        f"WHERE target IN ({marks}) AND status NOT IN ('ok', 'absent')",
        _names(model),
    ).fetchall()
    assert rows == []


# ---- a site of each, without a site file

# By hand: what cannot be known of a healthy site, rule by rule, and why. Everything else is.
UNKNOWN = {
    # The rails and their RDMA devices are inside pods.
    "kubernetes_moved": {"compute-port-missing": "elsewhere"},
}


def _run(folder: Path, *words: str) -> Result:
    own = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "300"}
    none = dict.fromkeys(("RAILWRIGHT_SITE", "RAILWRIGHT_WAIVERS", "XDG_CONFIG_HOME"))
    store = ("--store", str(folder / "store"))
    return CliRunner(env={**none, **own}).invoke(program(), [*words, *store])


@pytest.fixture(scope="module")
def sites(
    tmp_path_factory: pytest.TempPathFactory, evidence: dict[str, Reading]
) -> dict[str, Path]:
    """A store for each model, made when it is asked for."""

    class Sites(dict[str, Path]):
        def __missing__(self, model: str) -> Path:
            self[model] = tmp_path_factory.mktemp(model)
            own = {name: evidence[name] for name in _names(model)}
            snapshot_of(self[model] / "store", own)
            return self[model]

    return Sites()


@by_model
@pytest.mark.one_in(3)
def test_a_healthy_site_has_no_findings(sites: dict[str, Path], model: str) -> None:
    done = _run(sites[model], "check", "--format", "json")
    said = json.loads(done.stdout.partition("\nNext: ")[0])
    assert [one for one in said["findings"] if one["severity"] not in ("low", "info")] == []
    assert {one["rule"]: one["reason"] for one in said["inconclusive"]} == UNKNOWN.get(model, {})
    assert done.exit_code == (3 if model in UNKNOWN else 0)


@pytest.mark.parametrize("model", ["kubernetes_moved", "hgx_h100_bonded"])
@pytest.mark.one_in(2)
def test_what_is_unknown_of_a_healthy_site_can_be_accepted(
    sites: dict[str, Path], model: str
) -> None:
    """With the very commands that `check` proposes."""
    text = _run(sites[model], "check").stdout
    lines = [line.partition("to accept that: railwright ")[2] for line in text.splitlines()]
    for command in filter(None, lines):
        assert _run(sites[model], *shlex.split(command)).exit_code == 0
    assert _run(sites[model], "check").exit_code == 0


@by_model
@pytest.mark.one_in(3)
def test_a_healthy_site_has_nothing_against_what_is_proposed_of_it(
    sites: dict[str, Path], model: str
) -> None:
    text = _run(sites[model], "intent", "init").stdout.partition("Next: ")[0]
    file = sites[model] / "proposed.toml"
    file.write_text(text)
    topics = ("inventory", "link")
    rules = [word for topic in topics for word in ("--select", topic)]
    done = _run(sites[model], "check", "--site", str(file), "--format", "json", *rules)
    said = json.loads(done.stdout.partition("\nNext: ")[0])
    assert said["findings"] == []
    listed = {rule for rule in UNKNOWN.get(model, {}) if shipped()[rule].topic in topics}
    assert {one["rule"] for one in said["inconclusive"]} == listed


# InfiniBand carries 4096 bytes in packets of 4122, and 16 bytes more for the first of a message of 64 KiB: 99.345 %.
CEILINGS = {"gb200_tray": 4 * 397.4, "hgx_b300": 8 * 794.8}


@pytest.mark.parametrize("model", CEILINGS)
def test_ceilings_of_the_newest_boards(sites: dict[str, Path], model: str) -> None:
    """Four ports of 400G beside Grace; eight of 800G whose NICs have half the lanes to the CPU."""
    told = json.loads(_run(sites[model], "predict", "ceiling", "--format", "json").stdout)
    assert {round(one["write_gbps"]) for one in told["hosts"]} == {round(CEILINGS[model])}


def test_what_a_pod_has_is_no_ceiling_of_nothing(sites: dict[str, Path]) -> None:
    done = _run(sites["kubernetes_moved"], "predict", "ceiling", "--format", "json")
    assert {one["write_gbps"] for one in json.loads(done.stdout)["hosts"]} == {None}
    assert done.exit_code == 3
