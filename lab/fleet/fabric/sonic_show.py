"""SONiC's `show` commands, ecnconfig and pfcwd: tables with a line of dashes under the heading."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lab.fleet.fabric.hearing import heard_by
from lab.fleet.fabric.model import Fabric, Switch
from lab.fleet.fabric.setting import Marking, Setting, count

_PADDING = 2  # tabulate makes a column this much wider than its heading
_EIGHT = range(8)
_MULTICAST = (8, 9)
_TRANSCEIVER = "OSFP 8X Pluggable Transceiver"
_SFP = {8: _TRANSCEIVER, 4: "QSFP28 or later"}


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, left: bool = False) -> str:
    """As SONiC's tools print it: right-aligned, but for LLDP."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [
        max(len(name) + _PADDING, *(len(row[at]) for row in cells))
        if cells
        else len(name) + _PADDING
        for at, name in enumerate(headings)
    ]

    def line(parts: Sequence[str]) -> str:
        pairs = zip(parts, widths, strict=True)
        texts = [part.ljust(width) if left else part.rjust(width) for part, width in pairs]
        return "  ".join(texts).rstrip()

    return "\n".join([line(headings), line(["-" * width for width in widths]), *map(line, cells)])


def _speed(mbps: int) -> str:
    return f"{mbps // 1000}G"


def _ports(switch: Switch) -> list[tuple[str, Setting]]:
    names = (port.name for port in switch.ports)
    return list(zip(names, switch.settings, strict=True))


def interface_status(fabric: Fabric, switch: Switch) -> str:
    """show interfaces status."""
    rows = []
    for number, (port, setting) in enumerate(zip(switch.ports, switch.settings, strict=True)):
        up = fabric.is_up(switch, number)
        rows.append((
            port.name, ",".join(map(str, port.lanes)), _speed(setting.speed_mbps), setting.mtu,
            setting.fec_asked, port.alias, "routed", "up" if up else "down",
            "up" if setting.admin_up else "down",
            _SFP.get(switch.model.lanes, _TRANSCEIVER) if up else "N/A", "off",
        ))  # fmt: skip
    headings = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin",
                "Type", "Asym PFC")  # fmt: skip
    return table(headings, rows) + "\n"


def fec_status(fabric: Fabric, switch: Switch) -> str:
    """show interfaces fec status."""
    rows = [
        (name, setting.fec if fabric.is_up(switch, at) else "N/A", setting.fec_asked)
        for at, (name, setting) in enumerate(_ports(switch))
    ]
    return table(("Interface", "FEC Oper", "FEC Admin"), rows) + "\n"


def autonegotiation(fabric: Fabric, switch: Switch) -> str:
    """show interfaces autoneg status."""
    rows = []
    for at, (name, setting) in enumerate(_ports(switch)):
        mode = "enabled" if setting.autonegotiation else "disabled"
        states = ("up" if fabric.is_up(switch, at) else "down",
                  "up" if setting.admin_up else "down")  # fmt: skip
        speed = _speed(setting.speed_mbps)
        rows.append((name, mode, speed, "N/A", "N/A", "N/A", "N/A", *states))
    headings = ("Interface", "Auto-Neg Mode", "Speed", "Adv Speeds", "Rmt Adv Speeds", "Type",
                "Adv Types", "Oper", "Admin")  # fmt: skip
    return table(headings, rows) + "\n"


def lldp_table(fabric: Fabric, switch: Switch) -> str:
    """show lldp table."""
    rows = [
        (port.name, one.system, one.port_id, "O" if one.is_host else "BR", one.port_description)
        for number, port in enumerate(switch.ports)
        for one in heard_by(fabric, switch, number)
    ]
    headings = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    return (
        "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
        f"{table(headings, rows, left=True)}\n{'-' * 50}\nTotal entries displayed:  {len(rows)}\n"
    )


def pfc_priority(switch: Switch) -> str:
    """show pfc priority."""
    rows = [(name, ",".join(map(str, one.pfc)) or "N/A") for name, one in _ports(switch)]
    if switch.tables is not None:  # it is CONFIG_DB that this command prints
        known = switch.tables.get("PORT_QOS_MAP", {})
        rows = [(name, known.get(name, {}).get("pfc_enable") or "N/A") for name, _ in rows]
    return table(("Interface", "Lossless priorities"), rows) + "\n"


def pfc_counters(switch: Switch) -> str:
    """show pfc counters."""
    found = []
    for heading, counter in (("Port Rx", "pfc_rx"), ("Port Tx", "pfc_tx")):
        rows = [
            (name, *(f"{count(setting, counter, number):,}" for number in _EIGHT))
            for name, setting in _ports(switch)
        ]
        found.append(table((heading, *(f"PFC{number}" for number in _EIGHT)), rows) + "\n")
    return "\n".join(found) + "\n"


def queue_counters(switch: Switch, *, namespace: bool = True) -> str:
    """show queue counters: a table per port."""
    names = ("queue_packets", "queue_bytes", "queue_drops", "queue_dropped_bytes")
    headings = ("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes")
    found = []
    for name, setting in _ports(switch):
        rows = [
            (name, f"UC{queue}", *(f"{count(setting, one, queue):,}" for one in names))
            for queue in _EIGHT
        ]
        rows += [(name, f"MC{queue}", *("N/A",) * 4) for queue in _MULTICAST]
        found.append(("For namespace :\n" if namespace else "") + table(headings, rows) + "\n")
    return "\n".join(found) + "\n"


def interface_counters(fabric: Fabric, switch: Switch) -> str:
    """show interfaces counters; the rates are those of a port at rest."""
    rows = []
    for at, (name, setting) in enumerate(_ports(switch)):
        state = "X" if not setting.admin_up else "U" if fabric.is_up(switch, at) else "D"
        row: list[object] = [name, state]
        for way in ("rx", "tx"):
            row += [f"{count(setting, f'{way}_ok'):,}", "0.00 B/s", "0.00%"]
            row += [f"{count(setting, f'{way}_{kind}'):,}"
                    for kind in ("errors", "drops", "oversize")]  # fmt: skip
        rows.append(row)
    headings = [
        f"{way}_{kind}"
        for way in ("RX", "TX")
        for kind in ("OK", "BPS", "UTIL", "ERR", "DRP", "OVR")
    ]
    return table(("IFACE", "STATE", *headings), rows) + "\n"


def is_watched(setting: Setting) -> bool:
    """Whether the watchdog runs on a port."""
    return bool(setting.watchdog) and setting.watchdog_running


def watchdog_config(switch: Switch) -> str:
    """show pfcwd config."""
    rows = [
        (name, one.watchdog_action, *one.watchdog_ms, "disable")
        for name, one in _ports(switch)
        if is_watched(one)
    ]
    headings = ("PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY")
    polling = "Changed polling interval to 200ms\n" if rows else ""
    return polling + table(headings, rows) + "\n"


def watchdog_stats(switch: Switch) -> str:
    """show pfcwd stats: a line per queue that is watched and has had a storm."""
    rows = []
    for name, setting in _ports(switch):
        for queue in setting.watchdog:
            storms = count(setting, "queue_storms", queue)
            if storms:
                drops = count(setting, "queue_storm_tx_drops", queue)
                rows.append((f"{name}:{queue}", "operational", f"{storms}/{storms}",
                             f"100/{drops}", "100/0", "0/0", "0/0"))  # fmt: skip
    headings = ("QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP",
                "TX LAST OK/DROP", "RX LAST OK/DROP")  # fmt: skip
    return table(headings, rows) + "\n"


def group_table(switch: Switch, title: str, counter: str) -> str:
    """show priority-group drop counters, ... watermark headroom."""
    rows = [
        (name, *(count(setting, counter, group) for group in _EIGHT))
        for name, setting in _ports(switch)
    ]
    return f"{title}\n{table(('Port', *(f'PG{group}' for group in _EIGHT)), rows)}\n"


def wred_fields(marking: Marking) -> dict[str, str]:
    """A profile as configured; colours that it looks at are alike, as in the samples."""
    marks = "ecn_all" if len(marking.colours) > 1 else f"ecn_{marking.colours[0]}"
    fields = {"ecn": marks if marking.ecn else "ecn_none"}
    for colour in marking.colours:
        fields[f"{colour}_min_threshold"] = str(marking.minimum_bytes)
        fields[f"{colour}_max_threshold"] = str(marking.maximum_bytes)
        fields[f"{colour}_drop_probability"] = str(marking.probability_percent)
        fields[f"wred_{colour}_enable"] = "true" if marking.enabled else "false"
    return fields


def ecnconfig(profiles: Mapping[str, Mapping[str, str]]) -> str:
    """show ecn, which is ecnconfig -l."""
    found = []
    for name, fields in profiles.items():
        width, room = max(map(len, fields)), max(map(len, fields.values()))
        rule = f"{'-' * width}  {'-' * room}"
        lines = [f"{key.ljust(width)}  {value}" for key, value in fields.items()]
        found.append("\n".join([f"Profile: {name}", rule, *lines, rule, ""]))
    return "\n".join(found) + "\n"


def version(switch: Switch) -> str:
    """show version."""
    return (
        f"\nSONiC Software Version: {switch.release}\nSONiC OS Version: 12\n"
        "Distribution: Debian 12.8\nKernel: 6.1.0-22-2-amd64\n\n"
        f"Platform: {switch.model.platform}\nHwSKU: {switch.model.sku}\n"
        f"ASIC: {'mellanox' if switch.model.spectrum else 'broadcom'}\n"
        f"ASIC Count: 1\nSerial Number: {switch.serial}\n"
    )


def shown(
    fabric: Fabric, switch: Switch, profiles: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """Every command with its answer."""
    yield "show version", version(switch)
    yield "show interfaces status", interface_status(fabric, switch)
    yield "show interfaces fec status", fec_status(fabric, switch)
    yield "show interfaces autoneg status", autonegotiation(fabric, switch)
    yield "show lldp table", lldp_table(fabric, switch)
    yield "show pfc priority", pfc_priority(switch)
    yield "show pfc counters", pfc_counters(switch)
    yield "show queue counters", queue_counters(switch)
    yield "show interfaces counters", interface_counters(fabric, switch)
    yield "show pfcwd config", watchdog_config(switch)
    yield "show pfcwd stats", watchdog_stats(switch)
    title = "Ingress PG dropped packets:"
    yield "show priority-group drop counters", group_table(switch, title, "group_drops")
    if profiles:
        yield "show ecn", ecnconfig(profiles)
