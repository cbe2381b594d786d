"""What tools do to a lab host, as the product's parsers then read it.

Expected values are those of the tools' and the kernel's sources (see lab/writes/__init__.py), written
by hand: none comes from a run of our own code.
"""

from dataclasses import replace

import pytest

from lab.fleet import MODELS
from lab.fleet.model import HostModel, Nic, with_faults
from lab.harness.written import answer, files, values
from lab.writes import HostState, Outcome
from lab.writes.registry import tools

RAIL, NETDEV, BDF = "mlx5_0", "enp24s0np0", "0000:18:00.0"
STORAGE, STORAGE_BDF = "mlx5_8", "0000:84:00.0"
NETDEV_FILES = [f"/sys/class/net/{NETDEV}/{name}" for name in (
    "address", "mtu", "operstate", "carrier", "ifindex", "type", "carrier_changes", "flags")]  # fmt: skip


def host(kind: str = "hgx_h100", **faults: object) -> HostState:
    model: HostModel = MODELS[kind](1)
    given = {(RAIL, name.replace("__", ".")): value for name, value in faults.items()}
    return HostState(with_faults(model, given) if given else model, clock=lambda: 1000.0)


def run(state: HostState, line: str, stdin: str = "") -> Outcome:
    return state.run(line.split(" "), stdin)


def well(state: HostState, line: str) -> str:
    done = run(state, line)
    assert (done.code, done.stderr) == (0, ""), done
    return done.stdout


def nic(state: HostState, name: str = RAIL) -> Nic:
    return next(one for one in state.model().nics if one.name == name)


def parameter(state: HostState, name: str, bdf: str = BDF) -> tuple[object, object] | None:
    """Current and next, as the probe's parser reads them."""
    rows = answer(state, "mlxconfig", f"mlxconfig -d {bdf} -e query", bdf)
    found = values(rows, "nic_parameter", name=name.removesuffix("_P1"))
    return (found[0]["current_text"], found[0]["next_text"]) if found else None


def netdev(state: HostState) -> dict[str, object]:
    return values(files(state, "netdev", *NETDEV_FILES), "netdev", name=NETDEV)[0]


def changes(state: HostState) -> int:
    found = netdev(state)["carrier_changes"]
    assert isinstance(found, int)
    return found


# ---- mlxconfig


def test_a_set_waits_for_the_reset() -> None:
    state = host()
    assert parameter(state, "CNP_DSCP_P1") == ("48", "48")
    said = well(state, f"mlxconfig -d {BDF} -y set CNP_DSCP_P1=40 ROCE_ADAPTIVE_ROUTING_EN=1")
    assert "Applying... Done!\n-I- " in said
    assert parameter(state, "CNP_DSCP_P1") == ("48", "40")
    assert parameter(state, "ROCE_ADAPTIVE_ROUTING_EN") == ("False(0)", "True(1)")
    well(state, f"mlxfwreset -d {BDF} -l 3 -y reset")
    assert parameter(state, "CNP_DSCP_P1") == ("40", "40")
    assert nic(state).qos.cnp_dscp == 40  # the parameter in force is what the port starts with


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("set NO_SUCH=1", 3, "-E- Unknown Parameter NO_SUCH\n"),
        ("set MAX_ACC_OUT_READ=128", 3, "-E- The Device doesn't support MAX_ACC_OUT_READ parameter\n"),
        ("set LINK_TYPE_P1=TOKEN", 3, "-E- Unknown value TOKEN\n"),
        ("set CNP_DSCP_P1=many", 3, "-E- Cannot parse the value\n"),
        ("set CNP_DSCP_P1", 3, "-E- Invalid Configuration argument CNP_DSCP_P1\n"),
        ("set CNP_DSCP_P1=4 CNP_DSCP_P1=5", 3, "-E- Duplicate parameter, CNP_DSCP_P1.\n"),
        ("set", 3, "-E- missing configuration arguments."),
        ("wish", 3, "-E- invalid argument: wish\n"),
        ("", 3, "-E- No command found."),
    ],
)  # fmt: skip
def test_mlxconfig_refuses_and_sets_nothing(arguments: str, code: int, words: str) -> None:
    state = host()
    done = run(state, f"mlxconfig -d {BDF} -y {arguments}".strip())
    assert done.code == code
    assert words in done.stdout
    assert parameter(state, "CNP_DSCP_P1") == ("48", "48")
    assert state.model() == state.base


def test_several_parameters_are_all_or_nothing() -> None:
    state = host()
    assert run(state, f"mlxconfig -d {BDF} -y set CNP_DSCP_P1=40 NO_SUCH=1").code == 3
    assert parameter(state, "CNP_DSCP_P1") == ("48", "48")


@pytest.mark.parametrize(
    ("stdin", "code", "after"),
    [("y\n", 0, "40"), ("YES", 0, "40"), ("n\n", 2, "48"), ("", 2, "48")],
)
def test_without_yes_it_asks(stdin: str, code: int, after: str) -> None:
    state = host()
    done = run(state, f"mlxconfig -d {BDF} set CNP_DSCP_P1=40", stdin)
    assert done.code == code
    assert "Apply new Configuration? (y/n) [n] : " in done.stdout
    assert ("-E- Aborted by user.\n" in done.stdout) == (code == 2)
    assert parameter(state, "CNP_DSCP_P1") == ("48", after)


@pytest.mark.parametrize(
    "device", ["18:00.0", "0000:18:00.0", "mlx5_0", "/dev/mst/mt4129_pciconf0", "/dev/fwctl/fwctl0"]
)
def test_a_card_has_several_names(device: str) -> None:
    state = host()
    well(state, f"mstconfig -d {device} -y set CNP_DSCP_P1=40")
    assert parameter(state, "CNP_DSCP_P1") == ("48", "40")


@pytest.mark.parametrize("device", ["99:00.0", "/etc/passwd", "../../dev", "mlx5_99", "a" * 5000])
def test_a_card_that_is_not_there(device: str) -> None:
    assert run(host(), f"mlxconfig -d {device} -y set CNP_DSCP_P1=40") == Outcome(
        "-E- Failed to open the device\n", "", 3
    )


def test_hidden_parameters_appear_when_advanced_settings_are_in_force() -> None:
    state = host()  # the storage card has ADVANCED_PCI_SETTINGS off
    wanted = f"mlxconfig -d {STORAGE_BDF} -y set MAX_ACC_OUT_READ=128"
    assert run(state, wanted).code == 3
    well(state, f"mlxconfig -d {STORAGE_BDF} -y set ADVANCED_PCI_SETTINGS=True")
    assert run(state, wanted).code == 3  # next is not enough
    well(state, f"mlxfwreset -d {STORAGE_BDF} -l 3 -y reset")
    well(state, wanted)
    assert parameter(state, "MAX_ACC_OUT_READ", STORAGE_BDF) == ("0", "128")


def test_class_3_is_written_per_function_and_the_rest_per_card() -> None:
    state = host()
    first, second = STORAGE_BDF, "0000:84:00.1"
    well(
        state, f"mlxconfig -d {first} -y set PCI_WR_ORDERING=force_relax CQE_COMPRESSION=AGGRESSIVE"
    )
    assert parameter(state, "PCI_WR_ORDERING", first) == ("per_mkey(0)", "force_relax(1)")
    assert parameter(state, "PCI_WR_ORDERING", second) == ("per_mkey(0)", "per_mkey(0)")
    assert parameter(state, "CQE_COMPRESSION", second) == ("BALANCED(0)", "AGGRESSIVE(1)")


def test_reset_goes_to_defaults_and_without_a_device_to_those_of_all_cards() -> None:
    state = host()
    assert parameter(state, "LINK_TYPE_P1") == ("ETH(2)", "ETH(2)")  # the factory's is IB
    well(state, f"mlxconfig -d {BDF} -y reset LINK_TYPE_P1")
    assert parameter(state, "LINK_TYPE_P1") == ("ETH(2)", "IB(1)")
    assert parameter(state, "QOS_TRUST_STATE_P1") == ("TRUST_DSCP(2)", "TRUST_DSCP(2)")
    well(state, "mlxconfig -y reset")
    assert parameter(state, "QOS_TRUST_STATE_P1") == ("TRUST_DSCP(2)", "TRUST_PCP(1)")
    assert parameter(state, "QOS_TRUST_STATE_P1", STORAGE_BDF) == ("TRUST_DSCP(2)", "TRUST_PCP(1)")


def test_a_backup_brings_the_values_back() -> None:
    state = host()
    well(state, f"mlxconfig -d {BDF} -f /root/card.raw backup")
    well(state, f"mlxconfig -d {BDF} -y set NUM_OF_VFS=4")
    well(state, f"mlxconfig -d {BDF} -f /root/card.raw -y set_raw")
    assert parameter(state, "NUM_OF_VFS") == ("8", "8")
    assert (
        "Raw Content Fingerprint"
        in run(state, f"mlxconfig -d {BDF} -f /etc/os-release -y set_raw").stdout
    )


def test_a_number_beyond_what_the_firmware_takes_fails_late() -> None:
    state = host()
    done = run(state, f"mlxconfig -d {BDF} -y set NUM_OF_VFS=128")
    assert done.code == 3
    assert "Applying... Failed!\n-E- " in done.stdout
    assert parameter(state, "NUM_OF_VFS") == ("8", "8")


# ---- mlxfwreset, flint


def test_a_reset_takes_runtime_settings_and_virtual_functions_along() -> None:
    state = host()
    well(state, f"mlnx_qos -i {NETDEV} --pfc 0,0,0,0,1,0,0,0")
    assert state.write_file(f"/sys/bus/pci/devices/{BDF}/sriov_numvfs", "4").code == 0
    well(state, f"mlxfwreset -d {BDF} -l 3 -y reset")
    assert nic(state).qos.pfc == (False, False, False, True, False, False, False, False)
    assert state.read_file(f"/sys/bus/pci/devices/{BDF}/sriov_numvfs") == b"0\n"


@pytest.mark.parametrize(
    ("kind", "device", "arguments", "words"),
    [
        ("hgx_h100", BDF, "-l 1 -y reset", "-E- Reset-level '1' is not supported in the current state of this device.\n"),
        ("hgx_h100", "/dev/fwctl/fwctl0", "-l 3 -y reset", "-E- mlxfwreset is not supported for fwctl devices.\n"),
        ("passthrough_vm", "0101:00:00.0", "-l 3 -y reset", "-E- The tool is not supported on virtual machines.\n"),
        ("hgx_h100", "99:00.0", "-l 3 -y reset", "-E- Failed to Identify Device: 99:00.0.\n"),
        ("hgx_h100", BDF, "-l 3 reset", "-E- Aborted by user.\n"),
    ],
)  # fmt: skip
def test_mlxfwreset_refuses(kind: str, device: str, arguments: str, words: str) -> None:
    state = host(kind)
    done = run(state, f"mlxfwreset -d {device} {arguments}")
    assert (done.code, done.stdout.endswith(words)) == (1, True), done


@pytest.mark.parametrize(
    "arguments", ["-l 2 -y reset", "-l x reset", "-l", "reset extra --what", ""]
)
def test_mlxfwreset_does_not_know_its_arguments(arguments: str) -> None:
    done = run(host(), f"mlxfwreset -d {BDF} {arguments}".strip())
    assert (done.code, done.stdout) == (2, "")
    assert "error: " in done.stderr


def test_a_running_subnet_manager_stops_a_reset() -> None:
    state = host()
    well(state, "systemctl start opensmd")
    done = run(state, f"mlxfwreset -d {BDF} -l 3 -y reset")
    assert (done.code, done.stdout) == (
        1,
        '-E- Please stop "opensm" manually and resume operation!.\n',
    )


def test_level_4_restarts_the_host() -> None:
    state = host()
    boot = state.model().boot_id
    well(state, f"mlxconfig -d {BDF} -y set CNP_DSCP_P1=40")
    well(state, f"mlxfwreset -d {BDF} -l 4 -y reset")
    assert state.model().boot_id != boot
    assert parameter(state, "CNP_DSCP_P1") == ("40", "40")


def image(state: HostState, psid: str, version: str) -> str:
    assert state.write_file("/root/fw.bin", f"PSID: {psid}\nFW Version: {version}\n").code == 0
    return f"flint -d {BDF} -i /root/fw.bin -y burn"


def test_a_burned_image_waits_and_can_be_taken_back_until_the_reset() -> None:
    state = host()
    well(state, image(state, "MT_0000000838", "28.44.1036"))
    found = values(answer(state, "flint", f"flint -d {BDF} query", BDF), "nic_firmware")[0]
    assert (found["version"], found["running_version"]) == ("28.44.1036", "28.43.2026")
    well(state, f"flint -d {BDF} -y ir")
    assert nic(state).flash.stored in ("", "28.43.2026")
    well(state, image(state, "MT_0000000838", "28.44.1036"))
    well(state, f"mlxfwreset -d {BDF} -l 3 -y reset")
    assert nic(state).firmware == "28.44.1036"
    assert run(state, f"flint -d {BDF} -y ir").code == 1


@pytest.mark.parametrize(
    ("psid", "version", "code", "words"),
    [
        ("MT_0000000834", "28.44.1036", 1, "-E- PSID mismatch. Device PSID (MT_0000000838) differs from image PSID (MT_0000000834).\n"),
        ("MT_0000000838", "28.43.2026", 7, ""),
        ("MT_0000000838", "latest", 1, "-E- Cannot open Image: /root/fw.bin. No valid FS image found\n"),
    ],
)  # fmt: skip
def test_an_image_is_refused(psid: str, version: str, code: int, words: str) -> None:
    state = host()
    done = run(state, image(state, psid, version))
    assert (done.code, done.stderr) == (code, words)
    assert nic(state).flash.stored == ""


# ---- mlnx_qos, dcb


def pfc(state: HostState) -> list[object]:
    """Of mlnx_qos and of dcb: one kernel."""
    found = values(answer(state, "mlnx_qos", f"mlnx_qos -i {NETDEV}", NETDEV), "qos_priority")
    other = values(
        answer(state, "dcb_pfc", f"dcb -j pfc show dev {NETDEV}", NETDEV), "dcb_pfc_priority"
    )
    shown = [row["priority"] for row in found if row["pfc_enabled"]]
    assert [row["priority"] for row in other if row["enabled"]] == shown
    return shown


@pytest.mark.parametrize("line", [
    f"mlnx_qos -i {NETDEV} --pfc 0,0,0,1,1,0,0,0", f"mlnx_qos -i {NETDEV} -f 0,0,0,1,1,0,0,0",
    f"dcb pfc set dev {NETDEV} prio-pfc all:off 3:on 4:on", f"dcb pfc set dev {NETDEV} prio-pfc 4:on"])  # fmt: skip
def test_another_mask_bounces_the_link_and_the_same_does_not(line: str) -> None:
    state = host()
    before = changes(state)
    well(state, line)
    assert (pfc(state), changes(state)) == ([3, 4], before + 2)
    well(state, line)
    assert changes(state) == before + 2
    assert nic(state).link.link_down == 1


def test_mlnx_qos_asks_for_one_priority_and_sets_one() -> None:
    state = host()
    assert run(state, f"mlnx_qos -i {NETDEV} -P 3") == Outcome("1\n", "", 0)
    assert run(state, f"mlnx_qos -i {NETDEV} -F x,x,x,0,1,x,x,x") == Outcome("", "", 0)
    assert pfc(state) == [4]


@pytest.mark.parametrize(("line", "metres"), [
    (f"mlnx_qos -i {NETDEV} --cable_len 30", 30), (f"dcb pfc set dev {NETDEV} delay 30", 30),
    (f"mlnx_qos -i {NETDEV} --cable_len 0", 10), (f"mlnx_qos -i {NETDEV} --cable_len 1000", 10)])  # fmt: skip
def test_the_cables_length_is_1_to_999_and_moves_no_link(line: str, metres: int) -> None:
    state = host()
    before = changes(state)
    run(state, line)
    found = values(answer(state, "mlnx_qos", f"mlnx_qos -i {NETDEV}", NETDEV), "qos_port")[0]
    assert (found["cable_length_m"], changes(state)) == (metres, before)


def code_points(state: HostState) -> dict[object, object]:
    found = values(answer(state, "dcb_app", f"dcb -j app show dev {NETDEV}", NETDEV), "dcb_app")
    return {row["protocol"]: row["priority"] for row in found}


def trust(state: HostState) -> object:
    return values(answer(state, "mlnx_qos", f"mlnx_qos -i {NETDEV}", NETDEV), "qos_port")[0][
        "trust"
    ]


def test_the_first_code_point_switches_trust_and_the_last_one_back() -> None:
    state = host(qos__trust="pcp", qos__app_dscps=())
    assert trust(state) == "pcp"
    well(state, f"dcb app add dev {NETDEV} dscp-prio 26:3")
    assert (trust(state), code_points(state)) == ("dscp", {26: 3})
    well(state, f"dcb app del dev {NETDEV} dscp-prio 26:3")
    assert (trust(state), code_points(state)) == ("pcp", {})


def test_a_deleted_code_point_has_priority_0() -> None:
    state = host()  # DSCP 26 has 3 by default: 26 / 8
    well(state, f"mlnx_qos -i {NETDEV} --dscp2prio del,26,3")
    assert nic(state).qos.dscp_priority[26] == 0
    assert 26 not in code_points(state)
    assert run(state, f"mlnx_qos -i {NETDEV} --dscp2prio del,26,3").code == 1


def test_trust_pcp_drops_the_map() -> None:
    state = host()
    well(state, f"mlnx_qos -i {NETDEV} --dscp2prio set,26,4")
    well(state, f"mlnx_qos -i {NETDEV} --trust pcp")
    assert (trust(state), code_points(state)) == ("pcp", {})
    well(state, f"mlnx_qos -i {NETDEV} --trust dscp")
    assert code_points(state)[26] == 3  # the usual one, not the 4 of before


def test_where_the_package_has_its_files_a_deletion_is_ignored() -> None:
    state = host(qos__sysfs=True)
    assert run(state, f"mlnx_qos -i {NETDEV} --dscp2prio del,26,3").code == 0
    assert nic(state).qos.dscp_priority[26] == 3
    assert run(state, f"mlnx_qos -i {NETDEV} --dscp2prio flush").code == 0
    assert trust(state) == "dscp"


def test_shares_make_100() -> None:
    state = host()
    done = run(
        state, f"mlnx_qos -i {NETDEV} -s ets,ets,ets,ets,ets,ets,strict,ets -t 50,0,0,40,0,0,0,0"
    )
    assert done == Outcome("Netlink error: Bad value. see dmesg.\n", "", 1)
    well(state, f"mlnx_qos -i {NETDEV} -t 30,0,0,70,0,0,0,0")
    found = values(
        answer(state, "mlnx_qos", f"mlnx_qos -i {NETDEV}", NETDEV), "qos_class", traffic_class=3
    )
    assert found[0]["bandwidth_percent"] == 70
    assert run(state, f"dcb ets set dev {NETDEV} tc-bw all:0 3:99").code == 1


def test_a_limit_that_is_not_supported_is_said_with_exit_status_0() -> None:
    state = host(qos__rate_limits=False)
    done = run(state, f"mlnx_qos -i {NETDEV} -r 10,0,0,0,0,0,0,0")
    assert done.code == 0
    assert "Rate limit is not supported on your system!\n" in done.stdout


def test_a_buffer_that_is_too_small_fails_when_the_mask_is_set_already() -> None:
    """xoff of 10 m at 400 Gb/s and MTU 9000: (301 + 21.6) * 400 + 24480 = 153520 bytes."""
    state = host()
    well(state, f"mlnx_qos -i {NETDEV} --buffer_size 19872,243072,0,0,0,0,0,0")
    done = run(state, f"mlnx_qos -i {NETDEV} --pfc 0,0,0,1,1,0,0,0")  # priority 4 is in buffer 0
    assert done.code == 1
    assert pfc(state) == [3, 4]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--pfc 1,1", "pfc list must have 8 items\n"),
        ("--pfc 0,0,0,2,0,0,0,0", "Bad value for PFC: 2 is not in the range 0..1\n"),
        ("--pfc 0,0,0,x,0,0,0,0", "Bad value for PFC: invalid literal for int() with base 10: 'x'\n"),
        ("--pfc 0,0,0,0,0,0,0,0,0", "Too many items for PFC\n"),
        ("--trust dscp --dscp2prio set,26,3", "trust and dscp2prio commands cannot be used at the same time.\n"),
        ("--trust both", "Invalid trust state command. Refer to the help.\n"),
        ("-t 200,0,0,0,0,0,0,0", "Bad value for ETS BW: 200 is not in the range 0..100\n"),
        ("-d both", "Invalid dcbx mode command. Refer to the help.\n"),
    ],
)  # fmt: skip
def test_mlnx_qos_refuses(arguments: str, words: str) -> None:
    state = host()
    done = run(state, f"mlnx_qos -i {NETDEV} {arguments}")
    assert done.code == 1
    assert done.stdout.startswith(words)
    assert state.model() == state.base


def test_dcb_says_what_the_real_one_says() -> None:
    """Release 6.1, run on a machine without DCB."""
    state = host()
    assert run(state, "dcb pfc set dev nope prio-pfc 3:on") == Outcome(
        "", "Attribute read: No such device\n", 1
    )
    assert run(state, "dcb pfc set dev eno1 prio-pfc 3:on") == Outcome(
        "", "Attribute read: Operation not supported\n", 1
    )
    assert run(state, "dcb apptrust set dev eno1 order dscp") == Outcome(
        "", 'Object "apptrust" is unknown\n', 1
    )
    assert run(state, f"dcb app add dev {NETDEV} bogus").stderr.startswith('What is "bogus"?\n')
    assert run(state, "dcb pfc set").stderr.startswith("Usage: dcb pfc set dev STRING\n")


# ---- ethtool, ip


def test_fec_bounces_the_link_also_with_the_same_value() -> None:
    state = host()
    before = changes(state)
    well(state, f"ethtool --set-fec {NETDEV} encoding rs")
    well(state, f"ethtool --set-fec {NETDEV} encoding rs")
    assert changes(state) == before + 4
    found = values(
        answer(state, "ethtool_fec", f"ethtool --show-fec {NETDEV}", NETDEV), "netdev_fec"
    )[0]
    assert (found["configured"], found["active"]) == ("RS", "RS")


@pytest.mark.parametrize(("arguments", "words"), [
    ("--set-fec {} encoding off", "netlink error: Operation not supported\n"),  # PAM4 has no "off"
    ("--set-fec {} encoding rs baser", "netlink error: Operation not supported\n"),
    ("-A {} autoneg on", "netlink error: Invalid argument\n"),
    ("-s {} speed 123", "netlink error: Invalid argument\n"),
    ("-G {} rx 9999", "netlink error: requested ring size exceeds maximum\nnetlink error: Invalid argument\n"),
    ("-L {} combined 0", "netlink error: Invalid argument\n"),
    ("-A {}", "ethtool: bad command line argument(s)\nFor more information run ethtool -h\n"),
])  # fmt: skip
def test_ethtool_refuses(arguments: str, words: str) -> None:
    state = host()
    done = run(state, f"ethtool {arguments.format(NETDEV)}")
    assert (done.code, done.stderr) == (1, words)
    assert state.model() == state.base


def test_pause_is_a_register_and_speed_is_a_link() -> None:
    state = host(link__pause_rx=True, link__pause_tx=True)
    before = changes(state)
    well(state, f"ethtool -A {NETDEV} autoneg off rx off tx off")
    found = values(answer(state, "ethtool_pause", f"ethtool -a {NETDEV}", NETDEV), "netdev_pause")[
        0
    ]
    assert (found["rx"], found["tx"], changes(state)) == (False, False, before)
    well(state, f"ethtool -s {NETDEV} speed 400000 autoneg off")
    assert changes(state) == before + 2
    well(state, f"ethtool -s {NETDEV} speed 400000 autoneg off")
    assert changes(state) == before + 2


def test_rings_are_rounded_up_to_a_power_of_two() -> None:
    state = host()
    well(state, f"ethtool -G {NETDEV} rx 3000")
    assert "Current hardware settings:\nRX:\t\t4096\n" in well(state, f"ethtool -g {NETDEV}")


def test_mtu_and_the_rdma_mtu_that_follows() -> None:
    state = host()
    well(state, f"ip link set dev {NETDEV} mtu 4191")
    assert netdev(state)["mtu"] == 4191
    assert nic(state).active_mtu == 2048  # 4096 wants 4192
    well(state, f"ip link set {NETDEV} mtu 4192")
    assert nic(state).active_mtu == 4096


@pytest.mark.parametrize(("arguments", "words", "code"), [
    ("dev nope mtu 9000", 'Cannot find device "nope"\n', 1),
    (f"dev {NETDEV} mtu abc", 'Error: argument "abc" is wrong: Invalid "mtu" value\n\n', 255),
    (f"dev {NETDEV} mtu 9979", "Error: mtu greater than device maximum.\n", 2),
    (f"dev {NETDEV} mtu 67", "Error: mtu less than device minimum.\n", 2),
])  # fmt: skip
def test_ip_link_refuses(arguments: str, words: str, code: int) -> None:
    assert run(host(), f"ip link set {arguments}") == Outcome("", words, code)


def test_down_and_up_again() -> None:
    state = host()
    before = changes(state)
    well(state, f"ip link set {NETDEV} down")
    assert (netdev(state)["operstate"], netdev(state)["flags"]) == ("down", "0x1002")
    well(state, f"ip link set {NETDEV} up")
    assert (netdev(state)["operstate"], netdev(state)["flags"]) == ("up", "0x1003")
    assert changes(state) == before + 2
    cable = host(up=False)  # nobody at the other end
    well(cable, f"ip link set {NETDEV} up")
    assert netdev(cable)["operstate"] == "down"


def test_an_address_brings_its_gids_and_takes_them_along() -> None:
    state = host()
    well(state, f"ip addr add 10.99.0.1/24 dev {NETDEV}")
    assert [one.index for one in nic(state).gids][-2:] == [4, 5]
    assert nic(state).gids[-1].gid.endswith("ffff:0a63:0001")
    assert (
        run(state, f"ip addr add 10.99.0.1/24 dev {NETDEV}").stderr
        == "RTNETLINK answers: File exists\n"
    )
    well(state, f"ip addr del 10.99.0.1/24 dev {NETDEV}")
    assert nic(state).gids == nic(host()).gids


# ---- PCI


def config(state: HostState, address: str) -> dict[str, object]:
    path = f"/sys/bus/pci/devices/{address}/config"
    return values(files(state, "pci_config", path), "pci_config")[0]


def test_setpci_keeps_what_the_mask_keeps() -> None:
    state = host()
    well(state, "setpci -s 18:00.0 CAP_EXP+08.w=2000:F000")
    found = config(state, BDF)
    assert (found["max_read_request"], found["max_payload"]) == (512, 256)
    well(state, "setpci -s 18:00.0 CAP_EXP+08.w=5000:F000")
    assert config(state, BDF)["max_read_request"] == 4096
    well(state, "setpci -s 18:00.0 CAP_EXP+08.w=5000")  # the mask forgotten: payload code 0
    assert config(state, BDF)["max_payload"] == 128
    assert config(state, BDF)["relaxed_ordering"] is False


def test_setpci_writes_acs_at_run_time() -> None:
    state = HostState(with_faults(MODELS["hgx_h100"](1), {("0000:17:00.0", "acs"): 0x1D}))
    assert config(state, "0000:17:00.0")["acs_request_redirect"] is True
    well(state, "setpci -r -s 0000:17:00.0 ECAP_ACS+0x6.w=0000")
    assert config(state, "0000:17:00.0")["acs_request_redirect"] is False


@pytest.mark.parametrize(("arguments", "words", "code"), [
    ("-s ff:1f.7 CAP_EXP+8.w=5000:f000", "setpci: Warning: No devices selected for operation group 1.\n", 0),
    ("-s zz CAP_EXP+8.w", "setpci: Unable to parse filter -s Invalid slot number.\n", 1),
    ("-s 18:00.0 FOO.w", 'setpci: Unknown register "FOO".\n', 1),
    ("-s 18:00.0 COMMAND.w=12345", 'setpci: Value "12345" is out of range.\n', 1),
    ("-s 18:00.0", "setpci: No operation specified.\n", 1),
])  # fmt: skip
def test_setpci_says_what_the_real_one_says(arguments: str, words: str, code: int) -> None:
    """pciutils 3.9, run on a machine without such a device."""
    done = run(host(), f"setpci {arguments}")
    assert (done.stderr.startswith(words), done.code) == (True, code), done


# ---- attributes


@pytest.mark.parametrize(
    ("path", "text", "parser", "table", "column", "value"),
    [
        (f"/sys/class/net/{NETDEV}/ecn/roce_rp/enable/3", "0", "ecn", "ecn_priority", "enabled", False),
        (f"/sys/class/net/{NETDEV}/ecn/roce_np/cnp_dscp", "40", "ecn", "ecn_parameter", "value", 40),
        (f"/sys/class/infiniband/{RAIL}/tc/1/traffic_class", "96", "roce_tos", "roce_tos", "traffic_class", 96),
        (f"/sys/kernel/config/rdma_cm/{RAIL}/ports/1/default_roce_tos", "96", "roce_tos", "roce_tos", "default_tos", 96),
        (f"/sys/kernel/config/rdma_cm/{RAIL}/ports/1/default_roce_mode", "IB/RoCE v1", "roce_tos", "roce_tos", "default_mode", "IB/RoCE v1"),
    ],
)  # fmt: skip
def test_an_attribute_takes_a_value(
    path: str, text: str, parser: str, table: str, column: str, value: object
) -> None:
    state = host()
    assert state.write_file(path, f"{text}\n") == Outcome()
    assert values(files(state, parser, path), table)[0][column] == value
    assert state.log[-1].changes


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        (f"/sys/class/net/{NETDEV}/ecn/roce_rp/enable/3", "2", "Invalid argument"),
        (f"/sys/class/net/{NETDEV}/ecn/roce_np/cnp_dscp", "64", "Invalid argument"),
        (f"/sys/class/net/{NETDEV}/address", "x", "Permission denied"),
        ("/sys/class/net/nope/mtu", "9000", "No such file or directory"),
        ("/sys/../../etc/shadow\0", "x", "No such file or directory"),
        (f"/sys/bus/pci/devices/{BDF}/sriov_numvfs", "9", "Numerical result out of range"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "fast", "Invalid argument"),
        ("/proc/sys/net/core/rmem_max", "much", "Invalid argument"),
        ("/proc/sys/net/core/no_such", "1", "No such file or directory"),
        ("relative", "1", "No such file or directory"),
    ],
)  # fmt: skip
def test_an_attribute_refuses(path: str, text: str, words: str) -> None:
    state = host()
    assert state.write_file(path, text) == Outcome("", f"{path}: {words}\n", 1)
    assert state.model() == state.base


def test_virtual_functions_go_from_one_number_to_another_through_0() -> None:
    state = host()
    path = f"/sys/bus/pci/devices/{BDF}/sriov_numvfs"
    assert state.write_file(path, "4").code == 0
    assert "Device or resource busy" in state.write_file(path, "2").stderr
    assert state.write_file(path, "0").code == 0
    assert state.write_file(path, "2").code == 0


def test_governors() -> None:
    state = HostState(with_faults(MODELS["hgx_h100"](1), {("host", "cpu.slow_cpus"): (0, 1)}))
    path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    assert state.read_file(path) == b"powersave\n"
    assert state.write_file(path, "performance").code == 0
    assert state.read_file(path) == b"performance\n"
    well(state, "cpupower frequency-set -g performance")
    assert state.read_file(path.replace("cpu0", "cpu1")) == b"performance\n"


def test_settings_of_the_kernel() -> None:
    state = host()
    path = "/proc/sys/net/ipv4/conf/all/arp_ignore"
    assert state.read_file(path) == b"0\n"
    well(state, "sysctl -w net.ipv4.conf.all.arp_ignore=1")
    assert values(files(state, "ip_sysctl", path), "ip_sysctl", netdev="all")[0]["value"] == 1
    well(state, f"sysctl -w net.ipv4.conf.{NETDEV}.rp_filter=0")
    assert dict(nic(state).arp)["rp_filter"] == 0
    words = "sysctl: cannot stat /proc/sys/no/such: No such file or directory\n"
    assert run(state, "sysctl -w no.such=1") == Outcome("", words, 1)


# ---- modules, services, small programs


def test_modules_come_and_go() -> None:
    state = host()
    well(state, "modprobe -r nvidia-peermem")
    assert not values(
        files(state, "modules", "/proc/modules"), "kernel_module", name="nvidia_peermem"
    )
    well(state, "modprobe nvidia-peermem")
    found = values(files(state, "modules", "/proc/modules"), "kernel_module", name="nvidia_peermem")
    assert found
    done = run(state, "rmmod mlx5_core")
    assert done == Outcome("", "rmmod: ERROR: Module mlx5_core is in use by: mlx5_ib\n", 1)
    assert (
        "FATAL: Module no_such not found in directory /lib/modules/"
        in run(state, "modprobe no_such").stderr
    )


def test_services() -> None:
    state = host()
    well(state, "systemctl disable --now lldpd")
    assert run(state, "systemctl is-active lldpd") == Outcome("inactive\n", "", 3)
    assert run(state, "systemctl is-enabled lldpd") == Outcome("disabled\n", "", 1)
    assert run(state, "systemctl enable --now nothing").code == 1
    assert run(state, "systemctl start nothing").code == 5


def test_cma_roce_tos_takes_an_rdma_device() -> None:
    state = host()
    assert run(state, f"cma_roce_tos -d {RAIL} -p 1 -t 96").stdout == "96\n"
    assert nic(state).qos.default_tos == 96
    assert run(state, f"cma_roce_mode -d {RAIL} -p 1 -m 1").stdout == "IB/RoCE v1\n"
    assert run(state, f"cma_roce_tos -d {NETDEV} -t 96").code == 1


# ---- the record, hostile input


def test_every_write_is_recorded_with_what_it_changed() -> None:
    told = []
    state = HostState(MODELS["hgx_h100"](1), clock=lambda: 12.5, tell=told.append)
    run(state, f"mlnx_qos -i {NETDEV}")
    assert told == []  # a question
    well(state, f"ip link set {NETDEV} mtu 1500")
    run(state, f"mlxconfig -d {BDF} -y set NO_SUCH=1")
    assert [(one.time, one.machine, one.argv[0], one.code) for one in told] == [
        (12.5, "ember-h001", "ip", 0), (12.5, "ember-h001", "mlxconfig", 3)]  # fmt: skip
    assert told[0].changes == {f"{NETDEV} mtu": (9000, 1500)}
    assert '"changes": {"enp24s0np0 mtu": [9000, 1500]}' in told[0].line()


PROGRAMS = (
    "mlxconfig", "mstconfig", "mlxfwreset", "flint", "mlnx_qos", "dcb", "ethtool", "ip", "setpci",
    "sysctl", "modprobe", "rmmod", "systemctl", "grubby", "update-grub", "cma_roce_tos", "cpupower",
    "rdma", "systemd-run", "nothing", "", "sudo",
)  # fmt: skip
WORDS = (
    "", "-", "--", "-d", "-i", "set", "dev", "../../etc/passwd", "a/b/c", "A" * 100_000, "\0", "é\udcff", "0:0:0",
    "=", "=1", "NAME=", "9" * 400, "-1", "0x", "1e9", "prio-pfc", "all:", ":on", "%s%n", "$(reboot)", "'", '"',
    NETDEV, BDF, "-y", "--pfc", "1,2,3", "CAP_EXP+ffff.w=1", "ECAP_ACS+0x6.w=1", "-f", "add", "10.0.0.0/99",
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_whatever_is_typed_there_is_an_exit_status(program: str) -> None:
    state = host("socket_direct")
    for first in WORDS:
        done = state.run([program, first])
        assert 0 <= done.code < 256
        for second in ("", "a/b", "set", "-d", "=", NETDEV) if program in tools() else ():
            done = state.run([program, second, first, "set", second], "y" * 100)
            assert "Traceback" not in done.stdout + done.stderr
            assert len(done.stdout) + len(done.stderr) < 500_000


def test_ten_megabytes_of_standard_input() -> None:
    assert run(host(), f"mlxconfig -d {BDF} set CNP_DSCP_P1=40", "x" * 10_000_000).code == 2


def test_a_host_of_another_kind_keeps_its_refusals() -> None:
    state = host("passthrough_vm")
    assert run(state, "mlxconfig -d 0101:00:00.0 -y set NUM_OF_VFS=1").code == 3
    assert run(state, "mlnx_qos -i ib0 --pfc 0,0,0,0,0,0,0,0").code == 1
    assert (
        run(state, "dcb pfc set dev ib0 prio-pfc 3:on").stderr
        == "Attribute read: Operation not supported\n"
    )
    assert state.model() == state.base


def test_a_write_yields_to_what_changes_below_it() -> None:
    """Somebody breaks what was mended: the fault counts."""
    state = host()
    well(state, f"ip link set {NETDEV} mtu 4200")
    state.rebase(with_faults(state.base, {(RAIL, "mtu"): 1500}))
    assert nic(state).mtu == 1500
    well(state, f"ip link set {NETDEV} mtu 4200")
    state.rebase(replace(state.base, labels={"a": "b"}))
    assert nic(state).mtu == 4200
