"""What a port of a switch is set to. Healthy ports of one role share one record."""

from collections.abc import Mapping
from dataclasses import dataclass, field

DATA_DSCP, CNP_DSCP = 26, 48
DATA_CLASS, CNP_CLASS = 3, 6
MTU = 9216
# SONiC's example maps name single code points; the other systems start from the upper three bits.
NAMED_DSCP = tuple({DATA_DSCP: DATA_CLASS, CNP_DSCP: CNP_CLASS}.get(dscp, 0) for dscp in range(64))
USUAL_DSCP = tuple(dscp // 8 for dscp in range(64))
ALIKE = tuple(range(8))
# Of NVIDIA's RoCE preset (reference B3): two classes of their own, the rest together.
PRESET_QUEUES = (0, 0, 0, DATA_CLASS, 0, 0, CNP_CLASS, 0)


@dataclass(frozen=True)
class Marking:
    """When a queue marks packets, and whether it drops others early."""

    minimum_bytes: int
    maximum_bytes: int
    probability_percent: int
    ecn: bool = True
    enabled: bool = True  # SONiC marks green packets only with wred_green_enable
    colours: tuple[str, ...] = ("green", "yellow", "red")  # of packets that it looks at; SONiC
    unit: str = "bytes"  # of both thresholds; EOS also counts in segments


@dataclass(frozen=True)
class Setting:
    """One port."""

    speed_mbps: int
    lanes: int
    cable_m: float  # as configured; the cable itself is the link's
    headroom_bytes: int | None = None  # None = the system does not show it
    xon_bytes: int = 0
    size_bytes: int = 0  # of the buffer profile
    up: bool = True
    admin_up: bool = True
    speed_asked_mbps: int = 0  # 0 = as in force
    fec: str = "rs"  # in force: rs, fc, none
    fec_asked: str = "rs"  # rs, fc, none, auto
    autonegotiation: bool = False
    mtu: int = MTU
    trust: str = "dscp"  # dscp, pcp, both, port
    dscp_class: tuple[int, ...] = USUAL_DSCP
    pcp_class: tuple[int, ...] = ALIKE
    class_queue: tuple[int, ...] = ALIKE
    class_group: tuple[int, ...] = (0, 0, 0, DATA_CLASS, 0, 0, 0, 0)
    pfc: tuple[int, ...] = (DATA_CLASS,)
    watchdog: tuple[int, ...] = (DATA_CLASS,)  # () = off
    watchdog_running: bool = True  # SONiC: offered by the template, and not started
    watchdog_action: str = "drop"
    watchdog_ms: tuple[int, int] = (200, 400)  # until it acts, and until it lets go again
    lossless_groups: tuple[int, ...] = (DATA_CLASS,)
    marking: Mapping[int, Marking] = field(default_factory=dict)  # by queue; none = unmarked
    # By queue: weight of a share, 0 = strict; a queue that is not here has no scheduler.
    schedulers: Mapping[int, int] = field(
        default_factory=lambda: {0: 50, DATA_CLASS: 50, CNP_CLASS: 0}
    )
    pause_threshold_bytes: int | None = None  # None = it moves with the free pool
    pause_rx: bool = False
    pause_tx: bool = False
    lldp: bool = True  # sends and listens
    # Beyond what every port counts: (name, priority or queue; -1 = of the port) -> value.
    counters: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def asked_mbps(self) -> int:
        """Speed that is configured."""
        return self.speed_asked_mbps or self.speed_mbps

    def __hash__(self) -> int:
        """Most are told apart by these alone."""
        return hash((self.speed_mbps, self.lanes, self.cable_m, self.mtu, self.up, self.pfc))


# What a healthy port counts, where it is not nothing.
USUAL_COUNTS = {
    ("rx_ok", -1): 98_811_234_102,
    ("tx_ok", -1): 97_220_114_870,
    ("rx_bytes", -1): 410_611_302_240_021,
    ("tx_bytes", -1): 404_380_711_223_341,
    ("pfc_rx", DATA_CLASS): 118,
    ("pfc_tx", DATA_CLASS): 40,
    ("queue_packets", 0): 122_033,
    ("queue_bytes", 0): 9_920_113,
    ("queue_packets", DATA_CLASS): 98_811_234_102,
    ("queue_bytes", DATA_CLASS): 410_214_822_118_233,
    ("queue_packets", CNP_CLASS): 1_114_758,
    ("queue_bytes", CNP_CLASS): 71_344_512,
    ("ecn_marked", -1): 9_902_117,
    ("ecn_marked", DATA_CLASS): 9_902_117,
    ("link_changes", -1): 5,
}


# What switches run where a preset does not say it: the releases of the samples.
RELEASES = {
    "sonic": "SONiC.202411.0",
    "cumulus": "5.11.1",
    "eos": "4.32.1F",
    "onyx": "3.10.4504",
}


AT_RUN_TIME = "at run time"


@dataclass(frozen=True)
class Software:
    """What is the same on all ports of a switch."""

    release: str = ""  # '' = that of RELEASES
    roce_mode: str = ""  # of Cumulus; '' = lossless where ports have PFC; none = no RoCE
    qos: str = "loaded"  # of SONiC; none = the tables of QoS and buffers are not there
    trust_of_switch: bool = False  # SONiC: PORT_QOS_MAP has a row for all ports
    headroom: str = "by formula"  # as listed, not shown, not public, AT_RUN_TIME


PLAIN = Software()


def count(setting: Setting, name: str, number: int = -1) -> int:
    """A counter of a port; a port that is down has counted nothing."""
    usual = USUAL_COUNTS.get((name, number), 0) if setting.up else 0
    return setting.counters.get((name, number), usual)
