"""What a port of a switch is set to. Healthy ports of one role share one record."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lab.fleet.fabric.hardware import SwitchModel
from lab.fleet.fabric.headroom import Wire, headroom

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
    class_queue: tuple[int, ...] = ALIKE
    class_group: tuple[int, ...] = (0, 0, 0, DATA_CLASS, 0, 0, 0, 0)
    pfc: tuple[int, ...] = (DATA_CLASS,)
    watchdog: tuple[int, ...] = (DATA_CLASS,)  # () = off
    lossless_groups: tuple[int, ...] = (DATA_CLASS,)
    marking: Mapping[int, Marking] = field(default_factory=dict)  # by queue; none = unmarked
    # By queue: weight of a share, 0 = strict; a queue that is not here has no scheduler.
    schedulers: Mapping[int, int] = field(
        default_factory=lambda: {0: 50, DATA_CLASS: 50, CNP_CLASS: 0}
    )
    pause_threshold_bytes: int | None = None  # None = it moves with the free pool
    pause_rx: bool = False
    pause_tx: bool = False
    # Beyond what every port counts: (name, priority or queue; -1 = of the port) -> value.
    counters: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def asked_mbps(self) -> int:
        """Speed that is configured."""
        return self.speed_asked_mbps or self.speed_mbps

    def __hash__(self) -> int:
        """Most are told apart by these alone."""
        return hash((self.speed_mbps, self.lanes, self.cable_m, self.mtu, self.up, self.pfc))


def _sonic(model: SwitchModel, base: Setting) -> Setting:
    marking = {DATA_CLASS: Marking(1_000_000, 3_000_000, 5)}
    base = replace(base, dscp_class=NAMED_DSCP, marking=marking)
    if not model.spectrum:
        return base
    wire = Wire(base.speed_mbps, base.lanes, base.cable_m)
    room = headroom(model.spectrum, wire, base.mtu, shared=False)
    return replace(base, headroom_bytes=room.xoff, xon_bytes=room.xon, size_bytes=room.size)


def _preset(_: SwitchModel, base: Setting) -> Setting:
    """Of Cumulus and Onyx: 150 to 1,500 KB; Cumulus marks in the common class too."""
    one = Marking(150_000, 1_500_000, 100, enabled=False)
    return replace(base, class_queue=PRESET_QUEUES, marking={DATA_CLASS: one})


def _cumulus(model: SwitchModel, base: Setting) -> Setting:
    base = _preset(model, base)
    one = base.marking[DATA_CLASS]
    return replace(base, marking={0: one, DATA_CLASS: one})


def _eos(_: SwitchModel, base: Setting) -> Setting:
    return replace(base, marking={DATA_CLASS: Marking(150_000, 1_500_000, 100)})


_MADE = {"sonic": _sonic, "cumulus": _cumulus, "onyx": _preset, "eos": _eos}


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


def count(setting: Setting, name: str, number: int = -1) -> int:
    """A counter of a port; a port that is down has counted nothing."""
    usual = USUAL_COUNTS.get((name, number), 0) if setting.up else 0
    return setting.counters.get((name, number), usual)


@lru_cache(maxsize=512)
def healthy(
    system: str, model: SwitchModel, wire: Wire, *, to_host: bool, up: bool = True
) -> Setting:
    """A port as profile roce-lossless wants it; optics between switches do not negotiate."""
    base = Setting(*wire, autonegotiation=to_host, up=up, admin_up=up)
    return _MADE[system](model, base)
