"""What of a written host survives which event, and what files say then.

The table is settings.md's, by hand: a column per event, a row per thing written.
"""

from dataclasses import replace

import pytest

from lab.fleet import MODELS
from lab.fleet.model import HostModel, with_faults
from lab.fleet.render.mlxconfig import parameters
from lab.harness.written import files, values
from lab.writes import HostState
from lab.writes.find import value_of

RAIL, NETDEV, BDF = "mlx5_0", "enp24s0np0", "0000:18:00.0"
DRIVER, RESET, REBOOT, POWER = "driver load", "firmware reset", "reboot", "power cycle"
ALL = (DRIVER, RESET, REBOOT, POWER)

# What is written -> (how, the field of the model, its value then, events that it survives).
SURVIVES = {
    "MTU": (f"ip link set {NETDEV} mtu 4200", f"{NETDEV} mtu", 4200, ()),
    "PFC": (f"mlnx_qos -i {NETDEV} --pfc 0,0,0,0,1,0,0,0", f"{RAIL} qos.pfc",
            (False, False, False, False, True, False, False, False), (DRIVER,)),
    "DSCP map": (f"mlnx_qos -i {NETDEV} --dscp2prio set,26,4", f"{RAIL} qos.dscp_priority",
                 tuple(4 if dscp == 26 else dscp // 8 for dscp in range(64)), (DRIVER,)),
    "ETS": (f"mlnx_qos -i {NETDEV} -t 30,0,0,70,0,0,0,0", f"{RAIL} qos.class_bandwidth",
            (30, 0, 0, 70, 0, 0, 0, 0), ()),
    "priority to class": (f"mlnx_qos -i {NETDEV} -p 0,0,0,3,0,0,6,3", f"{RAIL} qos.priority_class",
                          (0, 0, 0, 3, 0, 0, 6, 3), ()),
    "cable length": (f"mlnx_qos -i {NETDEV} --cable_len 30", f"{RAIL} qos.cable_length_m", 30, ()),
    "pause": (f"ethtool -A {NETDEV} rx on", f"{RAIL} link.pause_rx", True, (DRIVER,)),
    "read request": ("setpci -s 18:00.0 CAP_EXP+08.w=2000:F000", f"{BDF} read_request", 512,
                     (DRIVER, RESET)),
    "ACS": ("setpci -s 17:00.0 ECAP_ACS+0x6.w=001d", "0000:17:00.0 acs", 0x1D, (DRIVER, RESET)),
    "ToS": (f"cma_roce_tos -d {RAIL} -t 96", f"{RAIL} qos.default_tos", 96, ()),
    "burned image": (f"flint -d {BDF} -i /root/fw.bin -y burn", f"{RAIL} flash.stored",
                     "28.44.1036", (DRIVER,)),  # a reset loads it: then it is the running one
    "running image": (f"flint -d {BDF} -i /root/fw.bin -y burn", f"{RAIL} firmware", "28.44.1036",
                      (RESET, REBOOT, POWER)),
    "kernel setting": ("sysctl -w net.ipv4.conf.all.rp_filter=2", "host sysctl",
                       "2", (DRIVER, RESET)),
    "virtual functions": ("sriov", f"{BDF} made_functions", 4, (DRIVER,)),
}  # fmt: skip


def field(state: HostState, name: str) -> object:
    subject, _, path = name.partition(" ")
    if path == "sysctl":
        return dict(state.model().kernel.sysctls).get("net.ipv4.conf.all.rp_filter")
    return value_of(state.model(), subject, path)


def happen(state: HostState, event: str) -> None:
    if event == DRIVER:
        assert state.run(["systemctl", "restart", "openibd"]).code == 0
    elif event == RESET:
        assert state.run(["mlxfwreset", "-d", BDF, "-l", "3", "-y", "reset"]).code == 0
    else:
        state.reboot(warm=event == REBOOT)


def host(kind: str = "hgx_h100", **host_fields: object) -> HostState:
    model: HostModel = MODELS[kind](1)
    given = {("host", name): value for name, value in host_fields.items()}
    return HostState(with_faults(model, given) if given else model, clock=lambda: 0.0)


@pytest.mark.parametrize("event", ALL)
@pytest.mark.parametrize("what", SURVIVES)
def test_what_survives_what(what: str, event: str) -> None:
    command, name, value, survives = SURVIVES[what]
    state = host()
    before = field(state, name)
    assert before != value
    state.write_file("/root/fw.bin", "PSID: MT_0000000838\nFW Version: 28.44.1036\n")
    if command == "sriov":
        assert state.write_file(f"/sys/bus/pci/devices/{BDF}/sriov_numvfs", "4").code == 0
    else:
        assert state.run(command.split(" ")).code == 0
    happen(state, event)
    assert (field(state, name) == value) == (event in survives)
    assert state.read_file("/root/fw.bin") is not None  # a file survives everything


# ---- firmware parameters


def pair(state: HostState, name: str) -> tuple[str, str]:
    nic = next(one for one in state.model().nics if one.address == BDF)
    return next((row.current, row.following) for row in parameters(nic) if row.name == name)


@pytest.mark.parametrize(
    ("server", "parameter", "value", "enough"),
    [
        ("HGX H100 8-GPU", "CNP_DSCP_P1=40", "40", (RESET, REBOOT, POWER)),
        ("DGX H100", "CNP_DSCP_P1=40", "40", (RESET, POWER)),
        ("HGX B200", "CNP_DSCP_P1=40", "40", (RESET, POWER)),
        ("GB200 NVL72", "CNP_DSCP_P1=40", "40", (RESET, POWER)),
        ("HGX H100 8-GPU", "ATS_ENABLED=1", "True(1)", (REBOOT, POWER)),
        ("DGX H100", "ATS_ENABLED=1", "True(1)", (POWER,)),
    ],
)
def test_which_event_puts_a_parameter_in_force(
    server: str, parameter: str, value: str, enough: tuple[str, ...]
) -> None:
    name = parameter.partition("=")[0]
    for event in (RESET, REBOOT, POWER):
        state = host(server_model=server)
        assert state.run(["mlxconfig", "-d", BDF, "-y", "set", parameter]).code == 0
        happen(state, event)
        current, following = pair(state, name)
        assert following == value
        assert (current == value) == (event in enough), event


def test_on_top_of_a_reset_a_restart_is_enough_where_it_loads_no_firmware() -> None:
    state = host(server_model="DGX H100")
    state.run(["mlxconfig", "-d", BDF, "-y", "set", "ATS_ENABLED=1"])
    happen(state, RESET)
    assert pair(state, "ATS_ENABLED") == ("False(0)", "True(1)")
    happen(state, REBOOT)
    assert pair(state, "ATS_ENABLED") == ("True(1)", "True(1)")


def test_what_a_fault_left_waiting_is_in_force_after_the_reset() -> None:
    model = with_faults(
        MODELS["hgx_h100"](1),
        {(RAIL, "parameters"): {"PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)")}},
    )
    state = HostState(model)
    happen(state, RESET)
    assert pair(state, "PCI_WR_ORDERING") == ("force_relax(1)", "force_relax(1)")


def test_a_limit_of_the_firmware_is_lifted() -> None:
    limited = {"PCI_BUS0_RESTRICT": ("True(1)", "True(1)"), "PCI_BUS0_RESTRICT_SPEED": ("PCI_GEN_3(2)", "PCI_GEN_3(2)"),
               "PCI_BUS0_RESTRICT_WIDTH": ("PCI_X16(4)", "PCI_X16(4)")}  # fmt: skip
    model = with_faults(
        MODELS["hgx_h100"](1), {(RAIL, "parameters"): limited, (BDF, "generation"): 3}
    )
    state = HostState(model)
    state.run(["mlxconfig", "-d", BDF, "-y", "set", "PCI_BUS0_RESTRICT=0"])
    happen(state, RESET)
    assert field(state, f"{BDF} generation") == 5


# ---- files, at a boot


def arguments(state: HostState) -> dict[object, object]:
    found = values(files(state, "cmdline", "/proc/cmdline"), "kernel_argument")
    return {row["name"]: row["value"] for row in found}


def test_the_line_of_grub_is_in_force_after_the_boot_and_only_when_it_was_made() -> None:
    state = host()
    state.write_file("/etc/default/grub.d/config-acs.cfg",
                     'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX pci=disable_acs_redir=0000:17:00.0;0000:28:00.0"\n')  # fmt: skip
    state.reboot()
    assert "disable_acs_redir" not in state.model().kernel.command_line
    assert state.run(["update-grub"]).code == 0
    assert b"disable_acs_redir=0000:17:00.0;0000:28:00.0" in (
        state.read_file("/boot/grub/grub.cfg") or b""
    )
    assert "disable_acs_redir" not in state.model().kernel.command_line
    state.reboot()
    assert arguments(state)["iommu"] == "pt"
    assert state.model().kernel.command_line.count("disable_acs_redir") == 1
    assert state.model().kernel.command_line.startswith(
        "BOOT_IMAGE=/boot/vmlinuz-6.8.0-45-generic root="
    )


def test_acs_by_the_kernels_line() -> None:
    model = with_faults(
        MODELS["hgx_h100"](1), {("0000:17:00.0", "acs"): 0x1D, ("0000:28:00.0", "acs"): 0x1D}
    )
    state = HostState(model)
    state.write_file(
        "/etc/default/grub", 'GRUB_CMDLINE_LINUX="iommu=pt pci=disable_acs_redir=0000:17:00.0"\n'
    )
    state.run(["update-grub"])
    state.reboot()
    # 0x1d = SrcValid, ReqRedir, CmpltRedir, UpstreamFwd; without the two redirections 0x11.
    assert field(state, "0000:17:00.0 acs") == 0x11
    assert field(state, "0000:28:00.0 acs") == 0x1D
    assert any("Configured ACS to 0x11" in line for line in state.model().kernel.messages)


def test_acs_flags_are_read_from_the_right() -> None:
    model = with_faults(MODELS["hgx_h100"](1), {("0000:17:00.0", "acs"): 0x1D})
    state = HostState(model)
    # DT EC UF CR RR TB SV: 1 sets DirectTrans (0x40), 0 clears ReqRedir and CmpltRedir, x keeps.
    state.write_file(
        "/etc/default/grub", "GRUB_CMDLINE_LINUX='pci=config_acs=1xx00xx@0000:17:00.0'\n"
    )
    state.run(["update-grub"])
    state.reboot()
    assert field(state, "0000:17:00.0 acs") == 0x51


def test_grubby_changes_the_entry() -> None:
    state = host("two_socket_4x400g")
    assert (
        state.run(["grubby", "--update-kernel=ALL", "--args=iommu=pt numa_balancing=disable"]).code
        == 0
    )
    assert "numa_balancing=disable" in state.run(["grubby", "--info=DEFAULT"]).stdout
    state.reboot()
    assert arguments(state)["numa_balancing"] == "disable"
    assert state.run(["grubby", "--update-kernel=ALL", "--remove-args=numa_balancing"]).code == 0
    state.reboot()
    assert "numa_balancing" not in arguments(state)


def test_settings_modules_and_options_of_files() -> None:
    state = host()
    state.run(["rmmod", "nvidia_peermem"])
    state.write_file(
        "/etc/sysctl.d/90-site.conf",
        "# why\nnet.ipv4.conf.all.arp_ignore = 1\n-no.such = 1\nnet/core/rmem_max=33554432\n",
    )
    state.write_file("/etc/sysctl.d/91-site.conf", "net.ipv4.conf.all.arp_ignore = 2\n")
    state.write_file("/etc/modules-load.d/site.conf", "ib_umad\n")
    state.write_file(
        "/etc/modprobe.d/site.conf",
        'options ib_core netns_mode=0\noptions nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords="PeerMappingOverride=1;"\n',
    )
    assert dict(state.model().kernel.sysctls)["net.core.rmem_max"] == "16777216"
    state.reboot()
    settings = dict(state.model().kernel.sysctls)
    assert (settings["net.core.rmem_max"], settings["net.ipv4.conf.all.arp_ignore"]) == (
        "33554432",
        "2",
    )
    loaded = {
        row["name"] for row in values(files(state, "modules", "/proc/modules"), "kernel_module")
    }
    assert {"ib_umad", "nvidia_peermem"} <= loaded  # the site's own list names the second
    assert state.model().rdma_namespaces == "exclusive"
    options = dict(state.model().kernel.gpu_driver_options)
    assert options["EnableStreamMemOPs"] == "1"
    assert options["RegistryDwords"] == '"PeerMappingOverride=1;"'


def test_a_list_that_is_taken_away_loads_nothing() -> None:
    state = host()
    assert state.remove_file("/etc/modules-load.d/nvidia-peermem.conf").code == 0
    assert state.remove_file("/etc/modules-load.d/nvidia-peermem.conf").code == 1
    state.reboot()
    assert "nvidia_peermem" not in {module.name for module in state.model().kernel.modules}


def test_files_show_at_once() -> None:
    state = host()
    state.write_file("/etc/nccl.conf", "NCCL_IB_TC=96\n")
    found = values(files(state, "libraries", "/etc/nccl.conf"), "library_setting")
    assert [(row["name"], row["value"]) for row in found] == [("NCCL_IB_TC", "96")]
    state.write_file("/etc/security/limits.d/95.conf", "* hard memlock 65536\n")
    found = values(files(state, "limits", "/etc/security/limits.d/95.conf"), "resource_limit")
    assert found[0]["value"] == "65536"


UNIT = """\
[Unit]
After=openibd.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /usr/local/sbin/settings
ExecStart=-/bin/false-program
[Install]
WantedBy=multi-user.target
"""
SCRIPT = f"""\
#!/bin/sh
# what the site wants
mlnx_qos -i {NETDEV} --pfc 0,0,0,0,1,0,0,0 && setpci -s 18:00.0 CAP_EXP+08.w=2000:F000
echo 0 > /sys/class/net/{NETDEV}/ecn/roce_rp/enable/3
for port in 1 2; do ethtool --set-fec $port; done
"""


def test_a_boot_unit_brings_runtime_settings_back() -> None:
    state = host()
    state.write_file("/etc/systemd/system/site.service", UNIT)
    state.write_file("/usr/local/sbin/settings", SCRIPT)
    state.reboot()
    assert field(state, f"{BDF} read_request") == 4096  # it is not enabled
    assert state.run(["systemctl", "daemon-reload"]).code == 0
    assert state.run(["systemctl", "enable", "--now", "site.service"]).code == 0
    for _ in range(2):
        assert field(state, f"{BDF} read_request") == 512
        assert field(state, f"{RAIL} qos.pfc") == (
            False,
            False,
            False,
            False,
            True,
            False,
            False,
            False,
        )
        assert field(state, f"{RAIL} qos.ecn_rp") == (
            True,
            True,
            True,
            False,
            True,
            True,
            True,
            True,
        )
        state.reboot()
    assert any("not understood: for port" in one.note for one in state.log)
    assert state.run(["systemctl", "disable", "site"]).code == 0
    state.reboot()
    assert field(state, f"{BDF} read_request") == 4096


def test_link_files_and_rules_count_when_a_device_appears() -> None:
    state = host()
    state.write_file(
        "/etc/systemd/network/10-rail.link",
        f"[Match]\nOriginalName={NETDEV}\n[Link]\nMTUBytes=4200\nRxFlowControl=yes\n",
    )
    state.write_file(
        "/etc/systemd/network/20-all.link", "[Match]\nOriginalName=*\n[Link]\nMTUBytes=1500\n"
    )
    state.write_file("/etc/udev/rules.d/90-site.rules",
                     'ACTION=="add", SUBSYSTEM=="net", DRIVERS=="mlx5_core", RUN+="/usr/bin/mlnx_qos -i %k --cable_len 30"\n')  # fmt: skip
    assert field(state, f"{NETDEV} mtu") == 9000
    happen(state, RESET)
    assert field(state, f"{NETDEV} mtu") == 4200  # the first file that fits
    assert field(state, f"{RAIL} link.pause_rx") is True
    assert field(state, f"{RAIL} qos.cable_length_m") == 30
    assert field(state, "mlx5_1 qos.cable_length_m") == 10
    state.reboot()
    assert field(state, "mlx5_1 qos.cable_length_m") == 30
    assert field(state, "enp41s0np0 mtu") == 1500


def test_services_at_a_boot() -> None:
    state = host()
    state.run(["systemctl", "stop", "lldpd"])
    state.run(["systemctl", "disable", "nvidia-persistenced"])
    state.reboot()
    assert state.run(["systemctl", "is-active", "lldpd"]).stdout == "active\n"
    assert state.run(["systemctl", "is-active", "nvidia-persistenced"]).stdout == "inactive\n"


def test_an_undo_on_a_timer_happens_unless_it_is_stopped() -> None:
    now = [0.0]
    state = HostState(MODELS["hgx_h100"](1), clock=lambda: now[0])
    undo = [
        "systemd-run",
        "--on-active=600",
        "--unit=undo",
        "ip",
        "link",
        "set",
        NETDEV,
        "mtu",
        "9000",
    ]
    assert state.run(undo).code == 0
    assert state.run(undo).code == 1  # one of that name is there
    state.run(["ip", "link", "set", NETDEV, "mtu", "4200"])
    now[0] = 599.0
    assert state.tick() is False
    assert field(state, f"{NETDEV} mtu") == 4200
    now[0] = 600.0
    assert state.tick() is True
    assert field(state, f"{NETDEV} mtu") == 9000
    state.run(["ip", "link", "set", NETDEV, "mtu", "4200"])
    for end in ("stop", "reboot"):
        assert state.run(undo).code == 0
        if end == "stop":
            assert state.run(["systemctl", "stop", "undo.timer"]).code == 0
        else:
            state.reboot()
            state.run(["ip", "link", "set", NETDEV, "mtu", "4200"])
        now[0] += 10_000
        assert state.tick() is False
        assert field(state, f"{NETDEV} mtu") == 4200


# ---- misbehaviour


def test_a_set_that_is_ignored() -> None:
    state = host()
    state.misbehave("set_ignored", RAIL)
    assert state.run(["mlxconfig", "-d", BDF, "-y", "set", "CNP_DSCP_P1=40"]).code == 0
    assert pair(state, "CNP_DSCP_P1") == ("48", "48")
    assert state.run(["ip", "link", "set", NETDEV, "mtu", "1500"]).code == 0
    assert field(state, f"{NETDEV} mtu") == 9000
    assert state.run(["ip", "link", "set", "enp41s0np0", "mtu", "1500"]).code == 0
    assert field(state, "enp41s0np0 mtu") == 1500
    assert state.log[0].note == f"misbehaved: set_ignored at {RAIL}"
    assert state.behave() == [f"set_ignored at {RAIL}"]
    state.run(["ip", "link", "set", NETDEV, "mtu", "1500"])
    assert field(state, f"{NETDEV} mtu") == 1500


def test_a_value_that_reverts_at_the_reset() -> None:
    state = host()
    state.misbehave("reverts_at_reset", RAIL)
    state.run(["mlxconfig", "-d", BDF, "-y", "set", "CNP_DSCP_P1=40"])
    assert pair(state, "CNP_DSCP_P1") == ("48", "40")
    happen(state, RESET)
    assert pair(state, "CNP_DSCP_P1") == ("48", "48")


def test_a_read_back_that_lies() -> None:
    state = host()
    state.misbehave("lying_read_back", RAIL)
    said = state.run(["mlnx_qos", "-i", NETDEV, "--pfc", "0,0,0,0,1,0,0,0"]).stdout
    assert "enabled     0   0   0   0   1   0   0   0" in said
    assert (
        "enabled     0   0   0   0   1   0   0   0" in state.run(["mlnx_qos", "-i", NETDEV]).stdout
    )
    # The other path tells the truth.
    assert (
        '"prio_pfc":[false,false,false,true,'
        in state.run(["dcb", "-j", "pfc", "show", "dev", NETDEV]).stdout
    )
    assert state.run(["mlxconfig", "-d", BDF, "-y", "set", "CNP_DSCP_P1=40"]).code == 0
    assert state.run(["mlxconfig", "-d", BDF, "query", "CNP_DSCP_P1"]).stdout.split()[-1] == "40"
    happen(state, RESET)
    assert state.run(["mlxconfig", "-d", BDF, "query", "CNP_DSCP_P1"]).stdout.split()[-1] == "48"


def test_a_busy_semaphore() -> None:
    state = host()
    state.misbehave("busy", RAIL, times=2)
    done = state.run(["mlxconfig", "-d", BDF, "-e", "query"])
    assert (done.code, done.stdout) == (3, "-E- Failed to open the device: Semaphore locked\n")
    assert state.run(["flint", "-d", BDF, "query"]).code == 1
    assert state.run(["mlxconfig", "-d", BDF, "-e", "query"]).code == 0
    assert state.run(["mlxconfig", "-d", "0000:29:00.0", "-e", "query"]).code == 0


def test_an_unsupported_reset_level() -> None:
    state = host()
    state.misbehave("no_reset_level", RAIL)
    done = state.run(["mlxfwreset", "-d", BDF, "-l", "3", "-y", "reset"])
    assert (done.code, "Reset-level '3' is not supported" in done.stdout) == (1, True)
    assert next(n for n in state.model().nics if n.name == RAIL).flash.reset_levels == (0,)
    assert state.run(["mlxfwreset", "-d", "0000:29:00.0", "-l", "3", "-y", "reset"]).code == 0


def test_a_host_that_never_returns() -> None:
    state = host()
    state.misbehave("never_returns")
    state.run(["reboot"])
    assert not state.up
    assert state.run(["true"]).code == 255
    assert state.write_file("/etc/nccl.conf", "").code == 255
    state.behave()
    state.power_cycle()
    assert state.run(["dcb", "-j", "pfc", "show", "dev", NETDEV]).code == 0


@pytest.mark.parametrize("event", [RESET, REBOOT, "bounce"])
def test_a_link_that_stays_down(event: str) -> None:
    state = host()
    state.misbehave("link_stays_down", RAIL)
    if event == "bounce":
        state.run(["ethtool", "--set-fec", NETDEV, "encoding", "rs"])
    else:
        happen(state, event)
    assert field(state, f"{NETDEV} up") is False
    assert field(state, "enp41s0np0 up") is True


def test_a_link_that_flaps() -> None:
    state = host()
    state.misbehave("link_flaps", RAIL)
    assert state.tick() is False
    state.run(["mlnx_qos", "-i", NETDEV, "--pfc", "0,0,0,0,1,0,0,0"])
    counts = []
    for _ in range(3):
        counts.append(field(state, f"{NETDEV} carrier_changes"))
        assert state.tick() is True
    assert counts == [4, 6, 8]
    state.behave()
    assert state.tick() is False


def test_a_full_disk() -> None:
    state = host()
    state.misbehave("disk_full", "/etc/")
    assert (
        state.write_file("/etc/nccl.conf", "x").stderr
        == "/etc/nccl.conf: No space left on device\n"
    )
    assert state.write_file("/root/x", "x").code == 0
    assert state.remove_file("/etc/nccl.conf").code == 0


def test_a_second_writer_before_and_after() -> None:
    state = host()
    state.misbehave("second_writer", RAIL, f"mlnx_qos -i {NETDEV} --pfc 1,0,0,1,0,0,0,0")
    state.run(["mlnx_qos", "-i", NETDEV, "-F", "x,x,x,x,1,x,x,x"])
    # The tool had read 3 before the other one wrote 0 and 3.
    assert field(state, f"{RAIL} qos.pfc") == (False, False, False, True, True, False, False, False)
    assert [one.kind for one in state.log] == ["other", "command"]
    state.misbehave("second_writer_after", RAIL, f"mlnx_qos -i {NETDEV} --pfc 0,0,0,0,0,0,0,0")
    state.run(["mlnx_qos", "-i", NETDEV, "--pfc", "0,0,0,1,0,0,0,0"])
    assert field(state, f"{RAIL} qos.pfc") == (False,) * 8
    state.run(["mlnx_qos", "-i", NETDEV, "--pfc", "0,0,0,1,0,0,0,0"])
    assert field(state, f"{RAIL} qos.pfc") == (
        False,
        False,
        False,
        True,
        False,
        False,
        False,
        False,
    )


def test_an_address_that_changes_at_the_reset() -> None:
    state = host()
    state.misbehave("address_changes", RAIL)
    before = next(n for n in state.model().nics if n.name == RAIL)
    happen(state, RESET)
    after = next(n for n in state.model().nics if n.name == RAIL)
    assert (after.serial, after.mac) == (before.serial, before.mac)
    assert after.address != before.address
    assert state.run(["mlxconfig", "-d", before.address, "-e", "query"]).code == 3
    assert state.run(["mlxconfig", "-d", after.address, "-y", "set", "CNP_DSCP_P1=40"]).code == 0
    assert state.run(["setpci", "-s", after.address, "CAP_EXP+08.w=2000:F000"]).code == 0
    assert field(state, f"{after.address} read_request") == 512
    assert values(
        files(state, "pci_config", f"/sys/bus/pci/devices/{after.address}/config"), "pci_config"
    )


def test_what_cannot_be_ordered() -> None:
    state = host()
    with pytest.raises(KeyError):
        state.misbehave("sulk")
    with pytest.raises(ValueError, match="wants the command"):
        state.misbehave("second_writer", RAIL)


def test_a_card_that_is_a_pcie_switch_takes_the_host_along() -> None:
    model: HostModel = MODELS["hgx_h100"](1)
    dpu = tuple(
        replace(nic, family="BlueField3") if nic.name in ("mlx5_0", "mlx5_1") else nic
        for nic in model.nics
    )
    state = HostState(replace(model, nics=dpu))
    done = state.run(["mlxfwreset", "-d", BDF, "-l", "3", "-y", "reset"])
    assert (done.code, "only reset-level 4 (reboot) is supported" in done.stdout) == (1, True)
    boot = state.model().boot_id
    assert state.run(["mlxfwreset", "-d", BDF, "-y", "reset"]).code == 0
    assert state.model().boot_id != boot
    assert "reset of 0000:29:00.0" in state.log[-1].note
