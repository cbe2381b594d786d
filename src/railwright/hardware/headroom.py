"""What a Spectrum switch port must keep free for a lossless class after it has sent a pause.

The calculation that SONiC does for these chips (sonic-net/sonic-swss, buffer_headroom_mellanox.lua,
commit e6b0c5b), for ports without a gearbox, said twice: once for Python, once as SQL macros for
rules. Both are made of the constants below, and a test holds them to results of the original.
"""

import math
from dataclasses import dataclass

from railwright.hardware.switch_asics import spectrum

# Bytes in which a chip's memory is handed out, by its generation (STATE_DB ASIC_TABLE of SONiC).
CELL = {1: 96, 2: 144, 3: 144, 4: 192, 5: 192, 6: 256}
# How long a peer may take to obey a pause, in units of 64 bytes at the port's Mb/s (IEEE 802.3,
# 31B.3.7; those of 400 Gb/s also for 800).
PAUSE_QUANTA = {
    800000: 905,
    400000: 905,
    200000: 453,
    100000: 394,
    50000: 147,
    40000: 118,
    25000: 80,
    10000: 67,
    1000: 2,
}
KIB = 1024
PIPELINE = {generation: 42 * KIB if generation == 6 else 19 * KIB for generation in CELL}
MAC_AND_PHY = 0.8 * KIB  # held at the exit when the pause is made
TILED = (4, 5)  # generations whose chip is made of tiles: 120 ns more between them
TILE_NS = 120
ALWAYS_MORE = {6: 18 * KIB}
METRES_PER_SECOND = 1.98e8  # of light in glass
SMALLEST_PACKET = 64
SMALL_PERCENT, LOSSLESS_MTU = 100, 1024  # SONiC's LOSSLESS_TRAFFIC_PATTERN as it is shipped


@dataclass(frozen=True)
class Headroom:
    """In bytes."""

    xon: int  # filling below which a pause ends
    xoff: int  # what may still arrive after the pause was sent
    size: int  # kept for the port alone


@dataclass(frozen=True)
class Port:
    """What the headroom of a port depends on."""

    generation: int
    speed_mbps: int
    cable_m: float
    mtu: int
    lanes: int
    lossless_mtu: int = LOSSLESS_MTU
    small_percent: int = SMALL_PERCENT
    shared_pool: bool = False


def worst_case(generation: int) -> int:
    """How many times its own size a packet of the smallest size, or one byte more, takes."""
    cell = CELL[generation]
    if cell > 2 * SMALLEST_PACKET:
        return math.ceil(cell / SMALLEST_PACKET)
    return math.ceil(2 * cell / (1 + cell))


def _xoff(port: Port, small_percent: int) -> int:
    average = (SMALLEST_PACKET * small_percent + port.lossless_mtu * (100 - small_percent)) / 100
    small = SMALLEST_PACKET * 100 / average
    occupied = (100 - small + small * worst_case(port.generation)) / 100
    cable = 2 * port.cable_m * port.speed_mbps * 1e6 / METRES_PER_SECOND / 8
    tiles = port.speed_mbps / 1000 * TILE_NS / 8 if port.generation in TILED else 0
    peer = PAUSE_QUANTA[port.speed_mbps] * 64
    under_way = port.mtu + cable + MAC_AND_PHY + peer + tiles
    return math.ceil((port.lossless_mtu + occupied * under_way) / KIB) * KIB


def headroom(port: Port) -> Headroom | None:
    """The headroom of a port; None for a chip or a speed that the calculation does not know."""
    if port.generation not in CELL or port.speed_mbps not in PAUSE_QUANTA:
        return None
    xoff = _xoff(port, port.small_percent) + ALWAYS_MORE.get(port.generation, 0)
    worst = _xoff(port, 100)  # without what is always more: as the original does it
    if port.small_percent != 100 and not port.shared_pool and worst - xoff > 2 * KIB:
        xoff += 2 * KIB
    wide = port.lanes == 8
    xon = PIPELINE[port.generation] * (2 if wide else 1)
    own = xon if port.shared_pool else xoff + xon + (port.mtu if wide else 0)
    return Headroom(xon, xoff, math.ceil(own / KIB) * KIB)


def _by(column: str, values: dict[int, int]) -> str:
    cases = " ".join(f"WHEN {key} THEN {value}" for key, value in values.items())
    return f"CASE {column} {cases} END"


def _generation_macro(kind: str) -> str:
    cases = " ".join(
        f"WHEN regexp_matches(model, '(?i)({'|'.join(models)})') THEN {generation}"
        for generation, models in spectrum().items()
    )
    # A Spectrum model that is newer than our list is not known; another maker's is none.
    newer = "WHEN model = '' OR regexp_matches(model, '(?i)SN[2-9][0-9]{3}') THEN NULL"
    return (
        f"CREATE OR REPLACE {kind} MACRO spectrum_generation(model) AS "
        f"CASE {cases} {newer} WHEN model IS NOT NULL THEN 0 END"
    )


def macros(kind: str = "") -> str:
    """The same as SQL, NULL where something is not known.

    spectrum_xoff(generation, speed_mbps, cable_m, mtu) is for SONiC's own traffic pattern, which is
    the worst case: all packets are small. spectrum_generation(model) is 0 for other makers' models.
    """
    worst = {generation: worst_case(generation) for generation in CELL}
    more = {generation: ALWAYS_MORE.get(generation, 0) for generation in CELL}
    quanta = {speed: number * 64 for speed, number in PAUSE_QUANTA.items()}
    tiles = f"CASE WHEN generation IN {TILED} THEN speed_mbps / 1000 * {TILE_NS} / 8 ELSE 0 END"
    under_way = (
        f"mtu + 2 * cable_m * speed_mbps * 1e6 / {METRES_PER_SECOND} / 8 + {MAC_AND_PHY}::DOUBLE"
        f" + {_by('speed_mbps', quanta)} + {tiles}"
    )
    return (
        f"{_generation_macro(kind)};\n"
        f"CREATE OR REPLACE {kind} MACRO spectrum_xoff(generation, speed_mbps, cable_m, mtu) AS "
        f"(ceil(({LOSSLESS_MTU} + {_by('generation', worst)} * ({under_way})) / {KIB}) * {KIB}"
        f" + {_by('generation', more)})::BIGINT"
    )
