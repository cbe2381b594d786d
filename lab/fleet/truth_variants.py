"""Hosts of every model, sound ones and ones with faults, for the round trip."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from lab.fleet import ACS_ON, MODELS, HostModel
from lab.fleet.model import Faults, with_faults
from lab.fleet.port_model import USUAL_DSCP, Lane
from lab.fleet.truth_log import MESSAGES


class Variant(NamedTuple):
    """A host of one model."""

    model: str
    number: int
    faults: Callable[[HostModel], Faults] | None = None

    def host(self) -> HostModel:
        """The host itself."""
        sound = MODELS[self.model](self.number)
        return with_faults(sound, self.faults(sound)) if self.faults else sound


def _pcie(host: HostModel) -> dict[tuple[str, str], Any]:
    """Narrow and slow links, ACS on, ordering and sizes changed; newer pciutils; a full log."""
    return {
        ("0000:29:00.0", "width"): 8,
        ("0000:3a:00.0", "generation"): 4,
        ("0000:99:00.0", "generation"): 3,
        ("0000:a7:00.0", "width"): 8,  # of the switch itself: all below it are limited
        ("0000:17:00.0", "acs"): ACS_ON,
        ("0000:17:01.0", "acs"): ACS_ON | 0x40,
        ("0000:5b:00.0", "relaxed_ordering"): False,
        ("0000:5b:00.0", "ats"): True,
        ("0000:5b:00.0", "errors"): (7_000_000_000, 2, 1),
        ("0000:17:00.0", "errors"): (12, 0, 0),
        ("0000:98:00.0", "max_payload"): 128,
        ("0000:98:00.0", "read_request"): 512,
        ("0000:98:00.0", "made_functions"): 2,
        ("host", "kernel"): replace(
            host.kernel, pciutils="3.10.0", util_linux="2.38.1", messages=tuple(MESSAGES)
        ),
    }


def _ports(host: HostModel) -> dict[tuple[str, str], Any]:
    """Links without partner, cable or light; a hot module; wrong MTU, FEC and pause."""
    lanes = host.nics[0].optic.lanes
    weak = (replace(lanes[0], rx_mw=0.01), replace(lanes[1], rx_mw=0.2), *lanes[2:])
    errors = (9_000_000, 12, 7, 5)
    return {
        ("mlx5_0", "optic.temperature_c"): 78.25,
        ("mlx5_0", "optic.lanes"): weak,
        ("mlx5_0", "link.raw_errors"): errors,
        ("mlx5_0", "link.raw_ber"): (3, 6),
        ("mlx5_0", "link.effective_errors"): 41,
        ("mlx5_0", "link.effective_ber"): (2, 12),
        ("mlx5_0", "link.link_down"): 17,
        ("mlx5_0", "link.link_recoveries"): 3,
        ("mlx5_1", "link.autonegotiation"): False,
        ("mlx5_1", "link.pause_rx"): True,
        ("mlx5_1", "link.pause_tx"): True,
        ("mlx5_2", "link.fec_active"): "Off",
        ("mlx5_2", "link.fec_configured"): ("Off",),
        ("mlx5_3", "mtu"): 1500,
        ("mlx5_4", "up"): False,
        ("mlx5_5", "up"): False,
        ("mlx5_5", "link.closed"): True,
        ("mlx5_6", "up"): False,
        ("mlx5_6", "optic.kind"): "none",
        ("mlx5_7", "link.lane_ber"): ((1, 9), (2, 9), (3, 9), (15, 255)),
        ("mlx5_2", "unresolved"): (("10.23.0.254", "FAILED"), ("fe80::1", "INCOMPLETE")),
        ("eno1", "mtu"): 9000,
        ("eno1", "unresolved"): (("198.51.100.9", "INCOMPLETE"),),
    }


def _qos(_: HostModel) -> dict[tuple[str, str], Any]:
    """Every setting of priorities, buffers and congestion control once."""
    wrong = (*USUAL_DSCP[:26], 0, *USUAL_DSCP[27:48], 5, *USUAL_DSCP[49:])
    return {
        ("mlx5_0", "qos.dscp_priority"): wrong,
        ("mlx5_0", "qos.app_dscps"): (24, 26, 48),
        ("mlx5_0", "qos.default_priority"): (1,),
        ("mlx5_0", "qos.datagram_ports"): ((4791, 3),),
        ("mlx5_1", "qos.pfc"): (False,) * 8,
        ("mlx5_2", "qos.pfc"): (True,) * 8,
        ("mlx5_3", "qos.trust"): "pcp",
        ("mlx5_3", "qos.dcbx"): "firmware",
        ("mlx5_3", "qos.lldpad"): True,
        ("mlx5_4", "qos.buffer_bytes"): (),
        ("mlx5_5", "qos.buffer_max"): 0,
        ("mlx5_5", "qos.cable_length_m"): 300,
        ("mlx5_6", "qos.class_rate_gbps"): (0.0, 0.0, 0.0, 97.5, 0.0, 0.0, 0.0, 0.0),
        ("mlx5_6", "qos.ecn_np"): (True, True, True, False, True, True, True, True),
        ("mlx5_6", "qos.ecn_rp"): (False,) * 8,
        ("mlx5_6", "qos.cnp_dscp"): 46,
        ("mlx5_6", "qos.rp_parameters"): {"rpg_ai_rate": 17},
        ("mlx5_7", "qos.default_tos"): None,
        ("mlx5_7", "qos.traffic_class"): 0,
    }


def _firmware(host: HostModel) -> dict[tuple[str, str], Any]:
    """What waits for a reset, what waits for an update."""
    return {
        ("mlx5_0", "flash.stored"): "28.44.1036",
        ("mlx5_1", "flash.available"): "28.44.1036",
        ("mlx5_1", "flash.available_uefi"): "14.37.14",
        ("mlx5_1", "flash.available_pxe"): "3.7.600",
        ("mlx5_2", "parameters"): {
            "PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)"),
            "ROCE_CC_PRIO_MASK_P1": ("8", "8"),
        },
        ("mlx5_3", "flash.reset_level"): 4,
        ("mlx5_3", "flash.reset_levels"): (4,),
        ("mlx5_7", "firmware"): "28.42.1000",
        ("host", "modules"): tuple(name for name in host.modules if name != "nvidia_peermem"),
        ("host", "kernel"): replace(
            host.kernel,
            gpu_driver_open=False,
            gpu_driver_options=(
                ("EnableStreamMemOPs", "1"),
                ("RegistryDwords", '"PeerMappingOverride=1;"'),
            ),
            modules=tuple(m for m in host.kernel.modules if m.name != "nvidia_peermem"),
        ),
    }


def _fabric(host: HostModel) -> dict[tuple[str, str], Any]:
    """InfiniBand without subnet manager, without partner, with errors; half a bond."""
    return {
        ("mlx5_2", "sm_lid"): 0,
        ("mlx5_2", "lid"): 0,
        ("mlx5_3", "pkeys"): (0x7FFF, 0x8012),
        ("mlx5_4", "up"): False,
        ("mlx5_4", "lid"): 0,
        ("mlx5_4", "pkeys"): (0, 0x8000, 0x0012),
        ("mlx5_5", "link.symbol_errors"): 12,
        ("mlx5_5", "link.symbol_ber"): (4, 13),
        ("mlx5_5", "counters"): {**host.nics[5].counters, "symbol_error": 12, "link_downed": 3},
        ("enp225s0f1np1", "up"): False,
        ("bond0", "speed"): 100_000,
    }


def _sockets(host: HostModel) -> dict[tuple[str, str], Any]:
    """A port without link where no switch tells what is near; slow CPUs."""
    return {
        ("mlx5_1", "up"): False,
        ("host", "cpu"): replace(host.cpu, slow_cpus=(0, 1, 2, 9, 96), turbo=False),
        ("host", "kernel"): replace(host.kernel, boot_modules=()),
    }


def _leg(host: HostModel) -> dict[tuple[str, str], Any]:
    """One half of the card is slow and pending; an old lscpu; few limits."""
    return {
        ("0000:ca:00.0", "width"): 8,
        ("mlx5_1", "parameters"): {"LINK_TYPE_P1": ("ETH(2)", "IB(1)")},
        ("enp202s0np0", "mtu"): 4200,
        ("host", "kernel"): replace(
            host.kernel,
            util_linux="2.34",
            pciutils="3.5.2",
            limits=(("*", "soft", "memlock", "65536"), ("@hpc", "-", "nofile", "1048576")),
            boot_modules=(
                (
                    "/etc/modprobe.d/peermem.conf",
                    "softdep nvidia pre: ib_core post: nvidia-peermem",
                ),
                ("/etc/initramfs-tools/modules", "mlx5_core"),
                ("/etc/modules", "mlx5_ib"),
            ),
        ),
    }


def _machine(_: HostModel) -> dict[tuple[str, str], Any]:
    """A port of a virtual machine without link."""
    return {("mlx5_3", "up"): False, ("mlx5_3", "sm_lid"): 0}


def _dark(host: HostModel) -> dict[tuple[str, str], Any]:
    """A lane of an SFF-8636 cable without light: there the flags of lanes can be trusted."""
    lanes = host.nics[0].optic.lanes
    return {
        ("mlx5_0", "optic.lanes"): (*lanes[:3], Lane(0.04, 1.5, 7.4)),
        ("mlx5_0", "optic.voltage_v"): 3.05,
    }


SOUND: dict[str, Variant] = {
    f"{model}-{number}": Variant(model, number)
    for model, numbers in {
        "hgx_h100": (1, 300),
        "hgx_a100_infiniband": (2, 4001),
        "two_socket_4x400g": (3,),
        "socket_direct": (4, 130),
        "kubernetes_worker": (5, 6),
        "passthrough_vm": (7,),
    }.items()
    for number in numbers
}
FAULTY: dict[str, Variant] = {
    "hgx_h100-pcie": Variant("hgx_h100", 11, _pcie),
    "hgx_h100-ports": Variant("hgx_h100", 12, _ports),
    "hgx_h100-qos": Variant("hgx_h100", 13, _qos),
    "hgx_h100-firmware": Variant("hgx_h100", 14, _firmware),
    "hgx_a100_infiniband-fabric": Variant("hgx_a100_infiniband", 15, _fabric),
    "two_socket_4x400g-sockets": Variant("two_socket_4x400g", 16, _sockets),
    "socket_direct-leg": Variant("socket_direct", 17, _leg),
    "socket_direct-dark": Variant("socket_direct", 18, _dark),
    "passthrough_vm-machine": Variant("passthrough_vm", 19, _machine),
}
VARIANTS = SOUND | FAULTY
