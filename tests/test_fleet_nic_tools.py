"""The fleet's NIC tools answer as the real ones: held to the samples, line by line.

Each sample is made again from host ember-h001, with the faults that the sample shows, as
`fleet_nic_samples.toml` says. Lines are compared with white space folded.
"""

import difflib
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.fleet.a100 import hgx_a100_infiniband
from lab.fleet.ember import hgx_h100
from lab.fleet.kubernetes import kubernetes_worker
from lab.fleet.model import HostModel, Nic
from lab.fleet.port_model import USUAL_DSCP, Lane
from lab.fleet.render import dcb, ecn, ethtool, flint, mlnx_qos, mlxfwmanager, mlxfwreset, mlxlink
from lab.fleet.render.base import Said
from lab.fleet.socket_direct import socket_direct
from lab.fleet.two_socket import two_socket_4x400g
from lab.fleet.virtual_machine import passthrough_vm
from railwright.toml import load_toml

SHARED = Path(__file__).parents[2] / "shared"
SAMPLES = SHARED / "formats" / "samples"
CAPTURES = SHARED / "captures"
MAKERS = [hgx_h100, hgx_a100_infiniband, kubernetes_worker, socket_direct, two_socket_4x400g]
MAKERS += [passthrough_vm]
RENDERERS = (ethtool, mlxlink, flint, mlxfwmanager, mlxfwreset, mlnx_qos, dcb)
COMMANDS = (
    *("dcb", "ethtool", "ethtool-S", "ethtool-a", "ethtool-fec", "ethtool-i", "ethtool-m"),
    *("flint", "mlnx_qos", "mlxfwmanager", "mlxfwreset", "mlxlink"),
)
TABLE = Path(__file__).parent / "fleet_nic_samples.toml"
CASES: dict[str, Any] = load_toml(TABLE.read_text("utf-8"), TABLE.name)
NOT_MADE = CASES.pop("not made")
OFF = (False,) * 8

Faults = dict[str, Any]


def host(faults: Faults | None = None, number: int = 1) -> HostModel:
    """A host with faults such as {"mlx5_0.qos.trust": "pcp"}."""
    changed = {tuple(key.split(".", 1)): value for key, value in (faults or {}).items()}
    return hgx_h100(number, changed)


def port_of(model: HostModel, name: str) -> Nic:
    return next(nic for nic in model.nics if nic.name == name)


def answers(model: HostModel) -> dict[str, Said]:
    """Every command that this host's NIC tools answer."""
    said = [answer for renderer in RENDERERS for answer in renderer.commands(model)]
    found = {answer.command: answer for answer in said}
    assert len(found) == len(said)
    return found


def ask(command: str, faults: Faults | None = None) -> str:
    """What a command says, and what it says to standard error."""
    answer = answers(host(faults))[command]
    return answer.stdout + answer.stderr


# ---- the samples


def frozen(name: str, value: Any) -> Any:
    """A value of TOML as the models have it."""
    if name.endswith("optic.lanes"):
        return tuple(Lane(*lane) for lane in value)
    return tuple(frozen("", each) for each in value) if isinstance(value, list) else value


def sample_host(case: dict[str, Any]) -> HostModel:
    faults = {name: frozen(name, value) for name, value in case.get("faults", {}).items()}
    if "counters" in case:
        usual = dict(port_of(host(), "mlx5_0").statistics)
        faults["mlx5_0.statistics"] = usual | case["counters"]
    if "points" in case:
        rest = case["points"].get("all")
        usual_map = USUAL_DSCP if rest is None else (rest,) * 64
        faults["mlx5_0.qos.dscp_priority"] = tuple(
            case["points"].get(str(dscp), priority) for dscp, priority in enumerate(usual_map)
        )
    model = host(faults)
    cards = case.get("cards")
    return replace(model, nics=tuple(n for n in model.nics if not cards or n.name in cards))


def made(case: dict[str, Any]) -> str:
    """The text that must equal the sample."""
    model, say = sample_host(case), case["say"]
    said = answers(model)
    if say in said:
        return said[say].stdout + said[say].stderr
    program, parts, name = say.split()
    port = port_of(model, name)
    if program == "mlxlink":
        tool = mlxlink.tool_of(model.firmware_tools)
        return "".join(getattr(mlxlink, part)(port, tool) for part in parts.split(","))
    assert program == "dcb"
    return getattr(dcb, parts)(port.qos, **case.get("arguments", {}))


def folded(text: str) -> list[str]:
    """Lines with white space folded, empty ones left out."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def sample_text(name: str) -> str:
    paths = [SAMPLES / f"{name}.txt", SAMPLES / f"{name}.json"]
    return next(path for path in paths if path.is_file()).read_text("utf-8")


def differences(name: str, text: str) -> list[str]:
    """`- ` and `+ ` lines between a sample and a text."""
    lines = difflib.unified_diff(folded(sample_text(name)), folded(text), n=0, lineterm="")
    return [f"{line[0]} {line[1:]}" for line in list(lines)[2:] if not line.startswith("@@")]


def needs_samples(test: Callable[..., None]) -> Callable[..., None]:
    there = SAMPLES.is_dir()
    missing = pytest.mark.skipif(not there, reason="no shared samples beside the repository")
    return pytest.mark.shared(missing(test))


@needs_samples
@pytest.mark.parametrize("name", CASES)
def test_the_sample_comes_out(name: str) -> None:
    case = CASES[name]
    reasons = case.get("differs", {})
    used = set()
    for line in differences(name, made(case)):
        fitting = {pattern for pattern in reasons if re.fullmatch(pattern, line)}
        assert fitting, f"differs without a reason: {line}"
        used |= fitting
    assert used == set(reasons)


@needs_samples
def test_every_sample_is_made_or_named() -> None:
    names = {
        f"{command}/{path.stem}"
        for command in COMMANDS
        for path in (SAMPLES / command).iterdir()
        if not path.name.endswith(".expect.json")
    }
    assert names == {*CASES, *NOT_MADE}


# ---- sizes


@needs_samples
def test_as_long_as_captures() -> None:
    said = answers(host())
    for command, capture, factor in (
        ("ethtool -S enp24s0np0", "ethtool-S/ethq-mlx5_core.txt", 1.25),
        ("ethtool -S eno1", "ethtool-S/newrushbolt-i40e-01_int_tp.txt", 4),
        ("ethtool -i enp24s0np0", "ethtool-i/newrushbolt-i40e-01_int_tp.txt", 1.25),
        ("ethtool enp24s0np0", "ethtool/newrushbolt-i40e-02_sfp_10_or_25g_sr.txt", 2),
        ("ethtool eno1", "ethtool/newrushbolt-i40e-01_int_tp.txt", 1.5),
        ("ethtool -m enp24s0np0", "ethtool-m/newrushbolt-i40e-02_sfp_10_or_25g_sr.txt", 3),
        ("flint -d 0000:18:00.0 query", "flint/carbide-flint_query.txt", 2),
    ):
        ours = said[command].stdout.count("\n")
        theirs = (CAPTURES / capture).read_text("utf-8").count("\n")
        assert theirs / factor <= ours <= theirs * factor, command


@needs_samples
def test_every_counter_of_the_capture_that_still_exists() -> None:
    """The capture is of an older driver: what it has beyond ours was renamed or dropped since."""
    text = (CAPTURES / "ethtool-S/ethq-mlx5_core.txt").read_text("utf-8")
    theirs = [line.partition(":")[0].strip() for line in text.splitlines()]
    ours = [line.partition(":")[0].strip() for line in ask("ethtool -S enp24s0np0").splitlines()]
    gone = {
        re.sub(r"\d+", "N", name)
        for name in theirs
        if re.sub(r"^([rt]x)1[2-5]_", r"\g<1>0_", name) not in ours
    }
    assert {name for name in gone if "cache_" not in name and "xdp_tx" not in name} == {
        *("rx_mpwqe_filler", "rxN_mpwqe_filler", "rx_page_reuse", "rxN_page_reuse"),
        *("rx_global_pause", "rx_global_pause_duration", "rx_global_pause_transition"),
        *("tx_global_pause", "tx_global_pause_duration"),
    }


# ---- what differs between ports and hosts, and what does not


def test_no_two_ports_are_alike() -> None:
    models = [host(number=number) for number in (1, 2, 3, 77)]
    ports = [(model, port) for model in models for port in model.nics]
    counts = {ethtool.statistics(model, port) for model, port in ports}
    modules = [mlxlink.module(port) for _, port in ports]
    serials = {re.findall(r"Vendor Serial Number +: (\S+)", text)[0] for text in modules}
    guids = {re.findall(r"Base GUID: +(\w+)", flint.query(port))[0] for _, port in ports}
    errors = {mlxlink.counters(port) for _, port in ports if port.optic.kind == "optical"}
    assert len(counts) == len(serials) == len(ports)
    assert len(guids) == len(models) * 9  # the two ports of the storage card share one
    assert len(errors) == len(models) * 8


def test_hosts_differ_in_what_is_theirs_alone() -> None:
    first, second = answers(hgx_h100(1)), answers(hgx_h100(2))
    assert first.keys() == second.keys()
    same = {command.split(" ")[0] for command in first if first[command] == second[command]}
    other = {command.split(" ")[0] for command in first if first[command] != second[command]}
    assert other == {"ethtool", "mlxlink", "flint", "mlxfwmanager"}
    assert same == {"ethtool", "mlxfwreset", "mlnx_qos", "dcb"}


@pytest.mark.parametrize("make", MAKERS)
def test_every_kind_of_host_answers(make: Callable[[int], HostModel]) -> None:
    model = make(3)
    said = answers(model)
    for answer in said.values():
        assert answer.stdout.endswith("\n") or (answer.code and not answer.stdout)
        assert not answer.stderr or answer.stderr.endswith("\n")
    for nic in model.nics:
        assert (f"ethtool -S {nic.netdev}" in said) is (not nic.in_pod)
        assert bool(said[f"mlxlink -d {nic.address} -m -c"].code) is (not nic.firmware_access)
    long = [a.stdout for c, a in said.items() if c.startswith("ethtool -S") and "_phy:" in a.stdout]
    assert len(set(long)) == len(long)
    assert all(text.count("\n") > 700 for text in long)
    with_ecn = {path.split("/")[4] for path in ecn.files(model)}
    own = {n.netdev for n in model.nics if n.driver_version == model.kernel.release}
    assert not with_ecn & own
    assert with_ecn <= {command.split()[-1] for command in said}


# ---- states that no sample shows


def test_without_a_link_counters_are_not_available() -> None:
    text = ask("mlxlink -d 0000:18:00.0 -m -c", {"mlx5_0.up": False})
    assert "MT2445FT0A118" in text  # the module can still be read
    rows = text.partition("Physical Counters and BER Info\n")[2].splitlines()[1:]
    assert len(rows) == 8
    assert all(row.endswith(": N/A") for row in rows)


def test_an_empty_cage() -> None:
    model = host({"mlx5_0.up": False, "mlx5_0.optic.kind": "none"})
    said = answers(model)
    link = said["mlxlink -d 0000:18:00.0 -m -c"]
    assert link.stderr.startswith("Warning: Cannot get module EEPROM information")
    module = link.stdout.partition("Module Info\n")[2].partition("\n \n")[0].splitlines()[1:]
    assert len(module) == 53
    assert all(row.endswith(": N/A") for row in module)
    assert said["ethtool -m enp24s0np0"].code == 1
    assert "Active FEC encoding: None" in said["ethtool --show-fec enp24s0np0"].stdout


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({}, "no (Autoneg, No partner detected)"),
        ({"mlx5_0.optic.kind": "none"}, "no (No cable)"),
        ({"mlx5_0.link.closed": True}, "no"),
    ],
)
def test_why_there_is_no_link(faults: Faults, words: str) -> None:
    text = ask("ethtool enp24s0np0", {"mlx5_0.up": False, **faults})
    assert f"\tLink detected: {words}\n" in text
    assert "Lanes:" not in text


def test_a_forced_speed() -> None:
    forced = {"speed": 100_000, "link.lanes": 4, "link.autonegotiation": False}
    model = host({f"mlx5_0.{name}": value for name, value in forced.items()})
    text = mlxlink.link(port_of(model, "mlx5_0"))
    assert "Auto Negotiation                   : FORCE - 100G_4X \n" in text
    assert "Speed                              : 100G \n" in text


def test_pause_counters_follow_flow_control() -> None:
    both = ask("ethtool -S enp24s0np0", {"mlx5_0.link.pause_rx": True})
    assert "rx_prio3_pause:" in both
    assert "rx_global_pause:" in both
    five = (False, False, False, False, False, True, False, False)
    other = ask("ethtool -S enp24s0np0", {"mlx5_0.qos.pfc": five})
    assert "rx_prio3_pause:" not in other
    assert "rx_prio5_pause: 0" in other


def test_counters_follow_link_and_module() -> None:
    faults = {"link.link_down": 7, "link.effective_errors": 3, "optic.temperature_c": 80.0}
    faults["statistics"] = {}
    text = ask("ethtool -S enp24s0np0", {f"mlx5_0.{name}": v for name, v in faults.items()})
    for row in ("link_down_events_phy: 7", "rx_pcs_symbol_err_phy: 3", "module_high_temp: 1"):
        assert f"     {row}\n" in text
    assert "     rx_err_lane_2_phy: 642208\n" in text


def test_rings_add_up() -> None:
    text = ask("ethtool -S enp24s0np0")
    for name in ("rx_packets", "tx_bytes", "ch_events"):
        kind, _, what = name.partition("_")
        total = int(re.findall(rf" {name}: (\d+)", text)[0])
        assert total == sum(map(int, re.findall(rf" {kind}\d+_{what}: (\d+)", text)))
        assert total > 0


def test_an_unknown_counter_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="rx_prio3_pauses"):
        ask("ethtool -S enp24s0np0", {"mlx5_0.statistics": {"rx_prio3_pauses": 1}})


def test_a_netdev_in_a_pod_cannot_be_asked_but_its_card_can() -> None:
    said = answers(host({"mlx5_1.in_pod": True}))
    assert not [command for command in said if "enp41s0np0" in command]
    assert len([command for command in said if "0000:29:00.0" in command]) == 3


def test_infiniband_answers_little() -> None:
    model = hgx_a100_infiniband(1)
    said = answers(model)
    assert "\tSpeed: 200000Mb/s\n" in said["ethtool ib0"].stdout
    assert said["ethtool -i ib0"].stdout.startswith("driver: mlx5_core[ib_ipoib]\n")
    assert "pause" not in said["ethtool -S ib0"].stdout
    for command in ("ethtool -m ib0", "ethtool --show-fec ib0", "ethtool -a ib0"):
        assert said[command][1:] == ("", "netlink error: Operation not supported\n", 1)
    for name in ("pfc", "app", "ets", "buffer"):
        assert said[f"dcb -j {name} show dev ib0"][2:] == ("Attribute not found: Success\n", 1)
    assert said["mlnx_qos -i ib0"].code == 1
    assert not [path for path in ecn.files(model) if "/ib0/" in path]
    link = said["mlxlink -d 0000:0c:00.0 -m -c"].stdout
    assert "Speed                              : IB-HDR\n" in link
    assert "Enabled Link Speed                 : 0x00000071 (HDR,EDR,FDR,SDR)\n" in link


def test_dcb_answers_are_json() -> None:
    said = answers(host({"mlx5_1.qos.trust": "pcp", "mlx5_2.qos.buffer_bytes": ()}))
    table = json.loads(said["dcb -j app show dev enp24s0np0"].stdout)
    assert len(table["dscp_prio"]) == 64
    assert [26, 3, " "] in table["dscp_prio"]
    assert said["dcb -j app show dev enp41s0np0"][1:] == ("{}\n", "", 0)
    assert said["dcb -j buffer show dev enp58s0np0"].code == 1
    assert json.loads(said["dcb -j buffer show dev enp24s0np0"].stdout)["total_size"] == 262016


def test_ecn_files() -> None:
    faults = {
        "mlx5_0.qos.cnp_dscp": 40,
        "mlx5_0.qos.ecn_rp": (*OFF[:3], True, *OFF[:4]),
        "mlx5_0.qos.rp_parameters": {"rpg_ai_rate": 10},
        "mlx5_1.driver_version": "6.8.0-45-generic",
    }
    found = ecn.files(host(faults))
    folder = "/sys/class/net/enp24s0np0/ecn/"
    ours = {path.removeprefix(folder): text for path, text in found.items() if folder in path}
    assert len(ours) == 35
    assert ours["roce_np/cnp_dscp"] == "40\n"
    assert ours["roce_np/cnp_802p_prio"] == "6\n"
    assert ours["roce_np/min_time_between_cnps"] == "4\n"
    assert [ours[f"roce_np/enable/{n}"] for n in range(8)] == ["1\n"] * 8
    assert [n for n in range(8) if ours[f"roce_rp/enable/{n}"] == "1\n"] == [3]
    assert ours["roce_rp/rpg_ai_rate"] == "10\n"
    assert ours["roce_rp/rpg_time_reset"] == "300\n"
    # The kernel's own driver does not have the folder.
    assert not [path for path in found if "enp41s0np0" in path]


def test_mixed_cards_in_one_mlxfwmanager() -> None:
    said = answers(host({"mlx5_2.flash.available": "28.44.1000"}))["mlxfwmanager --query"]
    assert said.stdout.count("Device #") == 9  # the storage card has two functions, one device
    assert said.stdout.endswith("---------\nFound 1 device(s) requiring firmware update...\n\n")
    assert "0000:84:00.1" not in said.stdout


def test_a_bonded_second_port_is_asked_too() -> None:
    """Two ports in a bond share one RDMA device: the second is but a netdev of the model."""
    said = answers(hgx_a100_infiniband(1))
    assert said["ethtool -S enp225s0f1np1"].stdout.count("\n") > 700
    assert "bus-info: 0000:e1:00.1\n" in said["ethtool -i enp225s0f1np1"].stdout
    assert "mlxlink -d 0000:e1:00.1 -m -c" in said
    modules = {said[f"ethtool -m enp225s0f{n}np{n}"].stdout for n in (0, 1)}
    assert len(modules) == 2
    assert "ethtool bond0" not in said


def test_a_fleet_can_be_streamed() -> None:
    models = [hgx_h100(number) for number in range(1, 12)]
    answers(models[0])
    start = time.process_time()
    for model in models[1:]:
        answers(model)
        ecn.files(model)
    assert (time.process_time() - start) / 10 < 0.040  # seconds; usually a quarter of this
