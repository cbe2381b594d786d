"""The truth about the kernel's log: which known messages it holds, in which order."""

from typing import NamedTuple

from lab.fleet.model import HostModel, Nic
from lab.fleet.truth_places import GIGATRANSFERS, Placed, Row, Rows, Tables, placed, ports, words

COLUMNS = words(
    """
    driver pci netdev device state available_gbps limited_by_gts limited_by_width limiting_pci
    capable_gbps slot_watts module event firmware_version command syndrome severity xid error text
    """
)
SLOT_POWER_W = 75
Said = list[tuple[float, Row]]
# When things happen in a boot of the fleet, in seconds.
FIRST_FUNCTION, PER_LINE = 3.1, 0.0009
FIRST_CARD, PER_CARD = 9.812345, 0.6
FIRST_LINK, PER_LINK = 25.0, 0.1
FIRST_MESSAGE = 100.0


def tables(host: HostModel) -> Tables:
    """kernel_message."""
    said: Said = [(0.0, {"kind": "boot", "text": host.kernel.release})]
    said += _enumeration(host)
    spots = placed(host)
    for number, nic in enumerate(ports(host).values()):
        said += _card(FIRST_CARD + number * PER_CARD, nic, spots[nic.address])
    said += _links(host)
    said += _messages(host)
    rows: Rows = [
        {"place": place, "seconds": round(seconds, 6), **dict.fromkeys(COLUMNS), **row}
        for place, (seconds, row) in enumerate(said)
    ]
    return {"kernel_message": rows}


class Bandwidth(NamedTuple):
    """What a path lets through, and which port limits it; '' = none."""

    available: float
    gigatransfers: float
    width: int
    port: str
    capable: float


def lane_megabits(generation: int) -> int:
    """Linux PCIE_SPEED2MBS_ENC(): 8b/10b, then 128b/130b, then flits; whole Mb/s."""
    megatransfers = int(GIGATRANSFERS[generation] * 1000)
    if generation <= 2:
        return megatransfers * 8 // 10
    return megatransfers * 128 // 130 if generation <= 5 else megatransfers


def bandwidth(spot: Placed) -> Bandwidth:
    """pcie_print_link_status(): of links that are equally narrow it names the uppermost."""
    function = spot.function
    links = [(function.address, *spot.link)]
    for place in range(len(spot.above) - 1, -1, -1):
        port = Placed(spot.above[place], spot.above[:place], spot.root_bus, spot.numa, spot.group)
        links.append((port.function.address, *port.link))
    narrow = min(lane_megabits(generation) * width for _, generation, width in links)
    port_name, generation, width = [
        link for link in links if lane_megabits(link[1]) * link[2] == narrow
    ][-1]
    most = lane_megabits(function.generation_max) * function.width_max
    limited = narrow < most
    if not limited:
        generation, width = function.generation_max, function.width_max
    speed = GIGATRANSFERS[generation]
    return Bandwidth(narrow / 1000, speed, width, port_name if limited else "", most / 1000)


def _bandwidth_row(driver: str, spot: Placed) -> Row:
    found = bandwidth(spot)
    return {
        "kind": "pcie_bandwidth",
        "driver": driver,
        "pci": spot.function.address,
        "available_gbps": found.available,
        "limited_by_gts": found.gigatransfers,
        "limited_by_width": found.width,
        "limiting_pci": found.port,
        "capable_gbps": found.capable if found.port else None,
    }


def _enumeration(host: HostModel) -> Said:
    """The PCI core speaks of endpoints whose path is narrower than they are."""
    said: Said = []
    seconds = FIRST_FUNCTION
    for spot in placed(host).values():
        function = spot.function
        bridge = function.class_code >> 8 == 0x0604
        lines = 5 if bridge else 4 if function.kind == "endpoint" else 1
        seconds += lines * PER_LINE
        if function.kind == "endpoint" and not function.virtual and bandwidth(spot).port:
            said.append((seconds, _bandwidth_row("pci", spot)))
    return said


def _card(seconds: float, nic: Nic, spot: Placed) -> Said:
    """mlx5_core at its start; a virtual function has neither link nor cage nor slot."""
    common: Row = {"driver": "mlx5_core", "pci": nic.address}
    firmware = {**common, "kind": "firmware", "firmware_version": nic.firmware}
    said: Said = [(seconds + 0.000156, firmware)]
    if spot.function.virtual:
        return said
    plugged = "Cable unplugged" if nic.optic.kind == "none" else "Cable plugged"
    cage = int(nic.address[-1])
    return [
        *said,
        (seconds + 0.000199, _bandwidth_row("mlx5_core", spot)),
        (seconds + 0.44, {**common, "kind": "module", "module": cage, "event": plugged}),
        (seconds + 0.45, {**common, "kind": "power_ok", "slot_watts": SLOT_POWER_W}),
    ]


def _links(host: HostModel) -> Said:
    """Only mlx5 on Ethernet says it in words that are known."""
    return [
        (
            FIRST_LINK + number * PER_LINK,
            {
                "kind": "link",
                "driver": "mlx5_core",
                "pci": netdev.address,
                "netdev": netdev.netdev,
                "state": "up",
            },
        )
        for number, netdev in enumerate((*host.nics, *host.netdevs))
        if netdev.up and netdev.driver == "mlx5_core"
    ]


_CARD = "0000:18:00.0"
# Messages that a test may put into a model, word for word, and what they tell.
MESSAGES: dict[str, Row] = {
    "NVRM: Xid (PCI:0000:19:00): 79, pid='<unknown>', GPU has fallen off the bus.": {
        "kind": "xid",
        "driver": "NVRM",
        "pci": "0000:19:00.0",
        "xid": 79,
    },
    f"mlx5_core {_CARD} enp24s0np0: Link down": {
        "kind": "link",
        "driver": "mlx5_core",
        "pci": _CARD,
        "netdev": "enp24s0np0",
        "state": "down",
    },
    f"mlx5_core {_CARD}: mlx5_pcie_event:301:(pid 412): Detected insufficient power on the PCIe "
    "slot (27W).": {
        "kind": "power_insufficient",
        "driver": "mlx5_core",
        "pci": _CARD,
        "slot_watts": 27,
    },
    f"mlx5_core {_CARD}: print_health_info:430:(pid 0): Health issue observed, firmware internal "
    "error, severity(3) ERROR:": {
        "kind": "health",
        "driver": "mlx5_core",
        "pci": _CARD,
        "severity": 3,
        "text": "firmware internal error",
    },
    f"mlx5_core {_CARD}: mlx5_cmd_out_err:810:(pid 2211): CREATE_MKEY(0x200) op_mod(0x0) failed, "
    "status bad parameter(0x3), syndrome (0x32d26e), err(-22)": {
        "kind": "command_error",
        "driver": "mlx5_core",
        "pci": _CARD,
        "command": "CREATE_MKEY(0x200)",
        "syndrome": "0x32d26e",
        "text": "bad parameter(0x3)",
    },
    "infiniband mlx5_0: dump_cqe:272:(pid 3311): dump error cqe": {
        "kind": "error_cqe",
        "device": "mlx5_0",
    },
    "mlx5_core: probe of 0000:29:00.0 failed with error -110": {
        "kind": "probe_failed",
        "driver": "mlx5_core",
        "pci": "0000:29:00.0",
        "error": -110,
    },
}


def _messages(host: HostModel) -> Said:
    """What a model's log has beyond an ordinary boot."""
    return [
        (FIRST_MESSAGE + number, MESSAGES[text]) for number, text in enumerate(host.kernel.messages)
    ]
