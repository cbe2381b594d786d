"""What one port of a card is: optics, link, QoS, firmware, counters. Plain frozen records."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# DSCP n belongs to priority n / 8: what every driver starts with.
USUAL_DSCP = tuple(dscp // 8 for dscp in range(64))

# The notification point sends at most one CNP per flow in so many microseconds.
NP_PARAMETERS = {"min_time_between_cnps": 4}
# The reaction point, with the firmware's defaults.
RP_PARAMETERS = {
    "clamp_tgt_rate": 0,
    "clamp_tgt_rate_after_time_inc": 1,
    "dce_tcp_g": 1019,
    "dce_tcp_rtt": 1,
    "initial_alpha_value": 1023,
    "rate_reduce_monitor_period": 4,
    "rate_to_set_on_first_cnp": 0,
    "rpg_ai_rate": 5,
    "rpg_byte_reset": 32767,
    "rpg_gd": 11,
    "rpg_hai_rate": 50,
    "rpg_max_rate": 0,
    "rpg_min_dec_fac": 50,
    "rpg_min_rate": 1,
    "rpg_threshold": 1,
    "rpg_time_reset": 300,
}


@dataclass(frozen=True)
class Lane:
    """One lane of a transceiver; zero means dark."""

    rx_mw: float
    tx_mw: float
    bias_ma: float
    snr_media_db: float | None = None  # None = what goes with the power it receives
    snr_host_db: float | None = None


@dataclass(frozen=True)
class Optic:
    """What is plugged into the cage."""

    kind: str = "optical"  # optical, copper, none
    form: str = "OSFP"  # OSFP, QSFP112, QSFP56, QSFP28, SFP28
    lane_gbps: int = 0  # 0 = as usual for its form
    vendor: str = "NVIDIA"
    part_number: str = "MMA4Z00-NS400"
    serial: str = ""
    revision: str = "A4"
    length_m: float = 0.0  # of the assembly; 0 = a transceiver, its fibre unknown
    reach_om4_m: int = 50
    temperature_c: float = 47.0
    voltage_v: float = 3.27
    wavelength_nm: int = 850
    lanes: tuple[Lane, ...] = ()  # () = a module without readings
    max_power_w: float = 9.0
    manufactured: str = "240911"  # year, month, day
    firmware: str = "46.120.0"
    breakout: str = "Unspecified"  # mlxlink's words on its far ends
    attenuation_db: tuple[int, int, int, int] = (4, 5, 7, 11)  # of copper at 5, 7, 12.9, 25.8 GHz


@dataclass(frozen=True)
class Link:
    """What the physical layer says."""

    fec_active: str = "RS"  # ethtool's word: RS, BaseR, LLRS, Off
    fec_configured: tuple[str, ...] = ("Auto",)
    autonegotiation: bool = True
    lanes: int = 4
    raw_errors: tuple[int, ...] = (0, 0, 0, 0)  # per lane
    effective_errors: int = 0
    raw_ber: tuple[int, int] = (15, 255)  # coefficient, negative exponent; 15E-255 means zero
    effective_ber: tuple[int, int] = (15, 255)
    link_down: int = 0
    minutes_since_clear: float = 14_400.0
    pause_autonegotiate: bool = False
    pause_rx: bool = False
    pause_tx: bool = False
    lane_ber: tuple[tuple[int, int], ...] = ()  # () = what goes with the raw errors
    link_recoveries: int = 0
    symbol_errors: int = 0  # InfiniBand only
    symbol_ber: tuple[int, int] = (15, 255)
    closed: bool = False  # switched off by the administrator; only where the port is down
    channels: int = 12  # rings that the netdev has of each kind
    rings: tuple[int, int] = (1024, 1024)  # entries of a receive and of a send ring


@dataclass(frozen=True)
class Qos:
    """Priorities, buffers, schedulers and congestion control of a port."""

    dcbx: str = "os"  # os, firmware
    trust: str = "dscp"  # dscp, pcp
    dscp_priority: tuple[int, ...] = USUAL_DSCP
    pfc: tuple[bool, ...] = (False, False, False, True, False, False, False, False)
    buffer_bytes: tuple[int, ...] = (19872, 243072, 0, 0, 0, 0, 0, 0)  # () = cannot be asked
    buffer_max: int = 262016  # 0 = this build of mlnx_qos does not print it
    priority_buffer: tuple[int, ...] = (0, 0, 0, 1, 0, 0, 0, 0)
    cable_length_m: int = 10  # also what the kernel calls the PFC delay
    priority_class: tuple[int, ...] = (0, 0, 0, 3, 0, 0, 6, 0)
    class_scheduler: tuple[str, ...] = ("ets", "ets", "ets", "ets", "ets", "ets", "strict", "ets")
    class_bandwidth: tuple[int, ...] = (50, 0, 0, 50, 0, 0, 0, 0)  # percent, of ets classes
    class_rate_gbps: tuple[float, ...] = (0.0,) * 8  # 0 = unlimited
    ecn_np: tuple[bool, ...] = (True,) * 8  # notification point: answers marked packets
    ecn_rp: tuple[bool, ...] = (True,) * 8  # reaction point: slows down
    cnp_dscp: int = 48
    cnp_priority: int = 6
    np_parameters: Mapping[str, int] = field(default_factory=dict)  # beyond the usual ones
    rp_parameters: Mapping[str, int] = field(default_factory=dict)
    default_tos: int | None = 106  # of RDMA-CM; None = its configfs folder does not exist
    traffic_class: int = 106  # set for all QPs of the device; 0 = not set
    # mlx5 lists every code point in the kernel's application table while it trusts DSCP.
    app_dscps: tuple[int, ...] = tuple(range(64))
    default_priority: tuple[int, ...] = ()
    datagram_ports: tuple[tuple[int, int], ...] = ()  # UDP port, priority
    lldpad: bool = False  # whether that service runs: mlnx_qos warns
    default_mode: str = "RoCE v2"  # of RDMA-CM
    sysfs: bool = False  # a driver package with /sys/class/net/NETDEV/qos: mlnx_qos writes there
    rate_limits: bool = True  # whether the driver takes a limit per class


@dataclass(frozen=True)
class Firmware:
    """What is flashed and what could be."""

    stored: str = ""  # '' = the running one
    available: str = ""  # '' = no image at hand
    release_date: str = "12.12.2024"
    security: str = "secure-fw"
    reset_level: int = 3  # the least that makes a pending change take hold
    reset_levels: tuple[int, ...] = (3, 4)  # supported ones
    uefi: str = "14.36.21"
    pxe: str = "3.7.500"
    available_uefi: str = ""  # '' = the same as now
    available_pxe: str = ""


@dataclass(frozen=True)
class GidEntry:
    """One used row of a GID table."""

    index: int
    gid: str  # as the kernel prints it
    kind: str  # IB/RoCE v1, RoCE v2
    netdev: str = ""  # '' = the kernel names none
