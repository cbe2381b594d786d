"""What the RDMA libraries' tools say: ibv_devinfo, ibstat, ibdev2netdev, show_gids."""

import ipaddress
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lab.fleet.model import HostModel, Nic, is_mlx5, netdev_is_here, rdma_is_here, rdma_is_up
from lab.fleet.port_model import GidEntry
from lab.fleet.rdma import CAPABILITIES
from lab.fleet.render.base import Said

# What libibverbs calls a lane's speed: name in the kernel's `rate` -> (Gb/s as printed, code).
LANE_SPEEDS = {
    "SDR": ("2.5", 1),
    "DDR": ("5.0", 2),
    "QDR": ("10.0", 4),
    "FDR10": ("10.0", 8),
    "FDR": ("14.0", 16),
    "EDR": ("25.0", 32),
    "HDR": ("50.0", 64),
    "NDR": ("100.0", 128),
    "XDR": ("200.0", 256),
}
WIDTHS = {"1X": 1, "4X": 2, "8X": 4, "12X": 8, "2X": 16}
MTU_CODES = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
# What mlx5 says about a port without a link.
_DOWN_RATES = {"Ethernet": "40 Gb/sec (4X QDR)", "InfiniBand": "10 Gb/sec (4X SDR)"}


class State(NamedTuple):
    """Logical and physical state in the words of the tools."""

    verbs: str
    ibstat: str
    rdma: str
    physical_verbs: str
    physical_ibstat: str
    physical_rdma: str


ACTIVE = State("PORT_ACTIVE (4)", "Active", "ACTIVE", "LINK_UP (5)", "LinkUp", "LINK_UP")
# InfiniBand without a subnet manager: the link is up, the port is not.
INITIALIZING = State("PORT_INIT (2)", "Initializing", "INIT", "LINK_UP (5)", "LinkUp", "LINK_UP")
DOWN = State("PORT_DOWN (1)", "Down", "DOWN", "DISABLED (3)", "Disabled", "DISABLED")
POLLING = DOWN._replace(
    physical_verbs="POLLING (2)", physical_ibstat="Polling", physical_rdma="POLLING"
)


def visible(host: HostModel) -> tuple[Nic, ...]:
    """RDMA devices that a process of the host sees."""
    return tuple(nic for nic in host.nics if rdma_is_here(host, nic))


def state_of(nic: Nic) -> State:
    """The state of a port."""
    infiniband = nic.link_layer == "InfiniBand"
    if not rdma_is_up(nic):
        return POLLING if infiniband else DOWN
    return INITIALIZING if infiniband and not nic.sm_lid else ACTIVE


def rate_of(nic: Nic) -> str:
    """400 Gb/sec (4X NDR)."""
    return nic.rate if rdma_is_up(nic) else _DOWN_RATES[nic.link_layer]


def eui64(mac: str) -> str:
    """The interface identity that the kernel makes of a MAC address: 5e2573fffea00100."""
    part = mac.split(":")
    return f"{int(part[0], 16) ^ 0x02:02x}{part[1]}{part[2]}fffe{part[3]}{part[4]}{part[5]}"


# ---- ibv_devinfo


@lru_cache(maxsize=1)
def _device_template() -> str:
    return (Path(__file__).parent / "verbs_device.txt").read_text("utf-8")


@lru_cache(maxsize=8)
def _device_text(limit: int) -> str:
    return _device_template().format(limit=limit)


def _head(nic: Nic) -> str:
    if not is_mlx5(nic):  # an E810: 8086:159b, and no board_id to be printed
        return (
            f"hca_id:\t{nic.name}\n"
            "\ttransport:\t\t\tInfiniBand (0)\n"
            f"\tfw_ver:\t\t\t\t{nic.firmware}\n"
            f"\tnode_guid:\t\t\t{nic.guid}\n"
            f"\tsys_image_guid:\t\t\t{nic.image_guid}\n"
            "\tvendor_id:\t\t\t0x8086\n"
            "\tvendor_part_id:\t\t\t5531\n"
            "\thw_ver:\t\t\t\t0x2\n"
            "\tphys_port_cnt:\t\t\t1\n"
        )
    return (
        f"hca_id:\t{nic.name}\n"
        "\ttransport:\t\t\tInfiniBand (0)\n"
        f"\tfw_ver:\t\t\t\t{nic.firmware}\n"
        f"\tnode_guid:\t\t\t{nic.guid}\n"
        f"\tsys_image_guid:\t\t\t{nic.image_guid}\n"
        "\tvendor_id:\t\t\t0x02c9\n"
        f"\tvendor_part_id:\t\t\t{nic.chip.removeprefix('MT')}\n"
        "\thw_ver:\t\t\t\t0x0\n"
        f"\tboard_id:\t\t\t{nic.psid}\n"
        "\tphys_port_cnt:\t\t\t1\n"
    )


def _port(nic: Nic) -> str:
    return (
        "\t\tport:\t1\n"
        f"\t\t\tstate:\t\t\t{state_of(nic).verbs}\n"
        f"\t\t\tmax_mtu:\t\t{nic.max_mtu} ({MTU_CODES[nic.max_mtu]})\n"
        f"\t\t\tactive_mtu:\t\t{nic.active_mtu} ({MTU_CODES[nic.active_mtu]})\n"
        f"\t\t\tsm_lid:\t\t\t{nic.sm_lid}\n"
        f"\t\t\tport_lid:\t\t{nic.lid}\n"
        "\t\t\tport_lmc:\t\t0x00\n"
        f"\t\t\tlink_layer:\t\t{nic.link_layer}\n"
    )


def capability_mask(nic: Nic) -> str:
    """Of the port: the same as in /sys."""
    return CAPABILITIES[nic.link_layer].strip()


def _port_details(nic: Nic) -> str:
    infiniband = nic.link_layer == "InfiniBand"
    _, _, rest = rate_of(nic).partition("(")
    width, name = rest.rstrip(")").split()
    speed, code = LANE_SPEEDS[name]
    flags = capability_mask(nic) if infiniband else "0x04010000"
    return (
        "\t\t\tmax_msg_sz:\t\t0x40000000\n"
        f"\t\t\tport_cap_flags:\t\t{flags}\n"
        f"\t\t\tport_cap_flags2:\t{'0x003a' if infiniband else '0x0000'}\n"
        # An Ethernet port has no virtual lanes; the tool has no word for that.
        f"\t\t\tmax_vl_num:\t\t{'4 (3)' if infiniband else 'invalid value (0)'}\n"
        "\t\t\tbad_pkey_cntr:\t\t0x0\n"
        "\t\t\tqkey_viol_cntr:\t\t0x0\n"
        "\t\t\tsm_sl:\t\t\t0\n"
        f"\t\t\tpkey_tbl_len:\t\t{128 if infiniband else 1}\n"
        f"\t\t\tgid_tbl_len:\t\t{8 if infiniband else 255}\n"
        f"\t\t\tsubnet_timeout:\t\t{18 if infiniband else 0}\n"
        "\t\t\tinit_type_reply:\t0\n"
        f"\t\t\tactive_width:\t\t{width} ({WIDTHS[width]})\n"
        f"\t\t\tactive_speed:\t\t{speed} Gbps ({code})\n"
        f"\t\t\tphys_state:\t\t{state_of(nic).physical_verbs}\n"
    )


def _gid_line(nic: Nic, row: GidEntry) -> str:
    """RoCE v2 GIDs are printed as addresses, the others as they are."""
    text = row.gid
    if nic.link_layer != "InfiniBand":
        if row.kind == "RoCE v2":
            text = _address(row.gid)
        text += ", RoCE v2" if row.kind == "RoCE v2" else ", RoCE v1"
    return f"\t\t\tGID[{row.index:3d}]:\t\t{text}\n"


def _address(gid: str) -> str:
    address = ipaddress.IPv6Address(gid)
    # Python 3.13 prints these like inet_ntop, older ones in hexadecimal.
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address)


def devinfo(host: HostModel, *, verbose: bool = True) -> Said:
    """`ibv_devinfo -v`, or without -v."""
    command = "ibv_devinfo -v" if verbose else "ibv_devinfo"
    nics = visible(host) if host.verbs_open else ()
    if not nics:
        return Said(command, "", "No IB devices found\n", 255)
    parts = []
    for nic in nics:
        parts.append(_head(nic))
        if verbose:
            parts.append(_device_text(int(nic.rate.split()[0]) * 1_000_000))
        parts.append(_port(nic))
        if verbose:
            parts.append(_port_details(nic))
            parts += [_gid_line(nic, row) for row in nic.gids]
        parts.append("\n")
    return Said(command, "".join(parts))


# ---- ibstat


def _hexadecimal(guid: str) -> str:
    return f"0x{guid.replace(':', '')}"


def ibstat(host: HostModel) -> str:
    """`ibstat`."""
    parts = []
    for nic in visible(host):
        state, infiniband = state_of(nic), nic.link_layer == "InfiniBand"
        port = _hexadecimal(nic.guid) if infiniband else f"0x{eui64(nic.mac)}"
        parts.append(
            f"CA '{nic.name}'\n"
            f"\tCA type: {nic.chip}\n\tNumber of ports: 1\n"
            f"\tFirmware version: {nic.firmware}\n\tHardware version: 0\n"
            f"\tNode GUID: {_hexadecimal(nic.guid)}\n"
            f"\tSystem image GUID: {_hexadecimal(nic.image_guid)}\n"
            f"\tPort 1:\n\t\tState: {state.ibstat}\n\t\tPhysical state: {state.physical_ibstat}\n"
            f"\t\tRate: {rate_of(nic).split()[0]}\n"
            f"\t\tBase lid: {nic.lid}\n\t\tLMC: 0\n\t\tSM lid: {nic.sm_lid}\n"
            f"\t\tCapability mask: {capability_mask(nic)}\n"
            f"\t\tPort GUID: {port}\n\t\tLink layer: {nic.link_layer}\n"
        )
    return "".join(parts)


# ---- scripts of the vendor's driver package


def ibdev2netdev(host: HostModel, *, verbose: bool = False) -> str:
    """`ibdev2netdev`; devices whose netdev is in another namespace are not in it."""
    lines = []
    for nic in visible(host):
        if not netdev_is_here(nic):
            continue
        line = f"{nic.name} port 1 ==> {nic.netdev} ({'Up' if nic.up else 'Down'})"
        if verbose:
            state = "ACTIVE" if nic.up else "DOWN  "
            line = (
                f"{nic.address} {nic.name} ({nic.chip} - {nic.order_number:11}) "
                f"{nic.product} fw {nic.firmware} port 1 ({state}) ==> "
                f"{nic.netdev} ({'Up' if nic.up else 'Down'})"
            )
        lines.append(line + "\n")
    return "".join(lines)


def show_gids(host: HostModel) -> str:
    """`show_gids`; a netdev in another namespace has no name here."""
    lines = [
        "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV",
        "---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---",
    ]
    for nic in visible(host):
        for row in nic.gids:
            mapped = ipaddress.IPv6Address(row.gid).ipv4_mapped
            address = f"\t{mapped}  \t" if mapped else "\t\t\t"
            version = "v2" if row.kind == "RoCE v2" else "v1"
            netdev = row.netdev if netdev_is_here(nic) else ""
            lines.append(f"{nic.name}\t1\t{row.index}\t{row.gid}{address}{version}\t{netdev}")
    lines.append(f"n_gids_found={len(lines) - 2}")
    return "\n".join(lines) + "\n"


def commands(host: HostModel) -> Iterator[Said]:
    """`ibv_devinfo -v`."""
    yield devinfo(host)
