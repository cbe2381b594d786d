"""What a lab is made of: hosts of all models, switches of all systems, faults by name."""

from collections import Counter
from pathlib import Path

import pytest

from lab.fleet import MODELS
from lab.fleet.fabric import End, Fabric, Routing
from lab.fleet.fabric.hearing import heard_by
from lab.fleet.fabric.typed import typed
from lab.fleet.faults.switch_places import faults_of
from lab.fleet.truth import truth
from lab.live.cluster import BESIDE, ON_THE_FABRIC, Cluster, cluster, node_set
from lab.live.fabric import FabricHosts, FabricState
from lab.live.part import LabError
from lab.settle import File, settle
from railwright.collect.switch import systems
from railwright.intent.site import load_site

# Hosts, rails, switches, planes.
Size = tuple[int, int, int, int]
SIZES = (
    *((64, 8, 12, 1), (4, 1, 2, 1), (2, 2, 4, 1), (8, 8, 12, 1), (16, 4, 6, 1), (5, 1, 6, 1)),
    *((256, 8, 12, 1), (2, 2, 8, 2), (64, 8, 20, 2)),
)
ALL = ("sonic", "cumulus", "eos", "onyx")


def test_the_usual_lab() -> None:
    made = cluster(64, 8, 12)
    assert Counter(one.kind for one in made.machines) == {
        "hgx_h100": 24, "hgx_a100_infiniband": 8, "two_socket_4x400g": 8, "socket_direct": 8,
        "kubernetes_worker": 8, "passthrough_vm": 8,
    }  # fmt: skip
    assert [(one.name, one.system) for one in made.fabric.switches] == [
        *((f"leaf{number:03d}", (ALL * 2)[number - 1]) for number in range(1, 9)),
        *((f"spine{number:03d}", ALL[number - 1]) for number in range(1, 5)),
    ]


def test_every_model_is_on_the_fabric_or_it_is_said_why_not() -> None:
    assert {ON_THE_FABRIC, *BESIDE} == set(MODELS)
    assert all(BESIDE.values())


@pytest.mark.parametrize("size", SIZES)
def test_it_has_what_was_asked_for(size: Size) -> None:
    hosts, rails, switches, planes = size
    made = cluster(*size)
    assert (len(made.machines), len(made.fabric.switches)) == (hosts, switches)
    assert {one.system for one in made.fabric.switches} >= set(ALL[:switches])
    names = {one.name for one in made.machines} | {one.name for one in made.fabric.switches}
    assert len(names) == hosts + switches
    macs = [nic.mac for one in made.machines for nic in one.healthy.nics if not nic.in_pod]
    assert len(set(macs)) == len(macs)
    for host in range(made.fabric.hosts):
        assert len(list(made.fabric.links_of(host))) == rails * planes


@pytest.mark.parametrize("size", [(64, 8, 12, 1), (4, 1, 2, 1), (2, 2, 8, 2)])
def test_both_ends_of_a_host_link_hear_each_other(size: Size) -> None:
    made = cluster(*size)
    fabric = made.fabric
    for host in range(fabric.hosts):
        model = made.machines[host].healthy
        for port in range(fabric.host_ports):
            nic, end = model.nics[port], fabric.other_end(End(host, port))
            assert end is not None
            switch = fabric.switch(end.machine)
            assert nic.neighbor is not None
            assert nic.neighbor.system == switch.name
            assert nic.neighbor.port == switch.ports[end.port].announced
            [heard] = heard_by(fabric, switch, end.port)
            assert (heard.system, heard.port_id) == (model.name, nic.mac)


def test_a_rail_has_two_addresses_and_no_broadcast() -> None:
    host = cluster(2, 2, 4).machines[0].healthy
    rail = [row for row in truth(host)["route"] if row["netdev"] == host.nics[0].netdev
            and row["family"] == "inet" and row["routing_table"] == "local"]  # fmt: skip
    assert host.nics[0].addresses[0] == "10.16.0.0/31"
    assert [(row["type"], row["destination"]) for row in rail] == [("local", "10.16.0.0")]


def test_a_host_of_two_rails_names_two_devices() -> None:
    host = cluster(2, 2, 4).machines[0].healthy
    assert dict(entry[1:] for entry in host.kernel.library_settings)["NCCL_IB_HCA"] == (
        "=mlx5_0,mlx5_1"
    )


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((10, 8, 8, 1), "9 switches, not 8"),
        ((0, 1, 2, 1), "at least one host"),
        ((4, 9, 12, 1), "1 to 8 rails"),
        ((512, 8, 64, 1), "cannot be cabled"),
        ((4, 2, 9, 2), "9 cannot be shared"),
        ((4, 2, 4, 2), "a spine in each of 2 planes: 6 switches, not 4"),
    ],
)
def test_what_cannot_be_built_is_refused(size: Size, words: str) -> None:
    with pytest.raises(LabError, match=words):
        cluster(*size)


def written(made: Cluster, folder: Path) -> Path:
    for name, text in made.texts().items():
        (folder / name).write_text(text)
    return folder / "site.toml"


def test_the_site_file_says_what_is_where(tmp_path: Path) -> None:
    found = load_site(written(cluster(64, 8, 12), tmp_path))
    hosts = {one["name"]: (one["hosts"], one["compute_nics"]) for one in found.classes}
    assert hosts == {
        "hgx": ("gpu[001-024]", 8), "hgx_a100_infiniband": ("basalt-h[001-008]", 8),
        "socket_direct": ("slate-n[001-008]", 1), "kubernetes_worker": ("opal-w[001-008]", 8),
        "passthrough_vm": ("mist-vm[001-008]", 8),
    }  # fmt: skip
    assert {(one["role"], one["hosts"]) for one in found.roles} == {
        ("compute", "gpu[001-024]"), ("storage", "gpu[001-024]"), ("unused", "garnet-n[001-008]"),
    }  # fmt: skip


def test_node_sets() -> None:
    assert node_set(["gpu001", "gpu002", "gpu003"]) == "gpu[001-003]"
    assert node_set(["basalt-h001"]) == "basalt-h001"


# ---- switches


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """leaf001 is SONiC, leaf002 Cumulus, spine001 EOS, spine002 Onyx."""
    return cluster(2, 2, 4).fabric


@pytest.mark.parametrize("name", ["leaf001", "leaf002", "spine001", "spine002"])
def test_a_switch_knows_every_command_that_is_sent(fabric: Fabric, name: str) -> None:
    switch = fabric.named(name)
    said = typed(fabric, switch, Routing(fabric))
    asked = {one.text.removeprefix("sudo -n ") for one in systems()[switch.system].commands}
    assert asked == set(said)


def test_faults_by_the_name_of_a_switch(fabric: Fabric) -> None:
    on_eos = faults_of(fabric, "spine001")
    assert {"drops_of_data", "switch_global_pause", "fabric_mtu_small"} <= set(on_eos)
    # Of SONiC alone; of a leaf; in want of a third leaf; of two planes.
    missing = {"no_headroom", "rails_swapped", "packets_bounce", "planes_swapped"}
    assert not missing & set(on_eos)
    assert {"no_headroom", "rails_swapped"} <= set(faults_of(fabric, "leaf001"))


def test_a_fault_comes_and_goes(fabric: Fabric) -> None:
    state = FabricState(fabric)
    shown = []

    def show(model: object) -> int:
        shown.append(model.name)  # type: ignore[attr-defined]
        return 1

    hosts = FabricHosts(fabric, show)
    state.strike("leaf001", "rails_swapped", "Ethernet4")
    assert [one.words for one in state.faults] == ["rails_swapped at gpu002:enp24s0np0"]
    assert hosts.follow(state.now()) == 1
    state.strike("spine002", "fabric_mtu_small", "Eth1/2")
    assert state.now().named("spine002").settings[1].mtu == 4000
    assert hosts.follow(state.now()) == 0
    assert [one.switch for one in state.heal("leaf001")] == ["leaf001"]
    assert hosts.follow(state.now()) == 1
    assert shown == ["gpu002", "gpu002"]
    state.heal()
    assert state.now().named("spine002").settings == fabric.named("spine002").settings


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    first = {"a": File("one"), "b/c": File("two", 0o755), "d": File("three")}
    assert sorted(settle(tmp_path, first)) == ["a", "b/c", "d"]
    before = (tmp_path / "a").stat().st_ino
    assert settle(tmp_path, first) == []
    assert sorted(settle(tmp_path, {"a": File("one"), "b/c": File("2", 0o755)})) == ["b/c", "d"]
    assert (tmp_path / "a").stat().st_ino == before
    assert (tmp_path / "b/c").read_text() == "2"
    assert not (tmp_path / "d").exists()
