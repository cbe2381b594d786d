"""The formulas of `ceiling.py` as SQL macros, for columns of a million rows.

    rdma_headers(link_layer, is_ipv4)                     bytes around each packet's payload
    rdma_mtu(netdev_mtu)                                  the RDMA MTU that a network device gives
    wire_write_gbps(rate, mtu, headers)                   what a port carries; _read_, _send_
    wire_floor_gbps(rate, headers)                        the same with the smallest MTU
    pcie_line_gbps(gts, width)                            a link behind its encoding
    into_memory_gbps(line, payload)                       posted writes
    from_memory_gbps(line, payload)                       completions
    pcie_gbps(line, payload, completion_payload)          the smaller of both
    pcie_floor_gbps(line)                                 the same with the smallest payload
    both_ways_gbps(gts, width, payload, request)          each direction while both are in use
    sum_gbps(x)                                           of ports or cards, in any order
    ceiling_of(wire, wire_floor, pcie, pcie_floor)        the smaller; NULL where that is not known
    cost_gbps(wire, line, payload, better_wire, better_line, better_payload)
                                                          how much better the second ceiling is
    ceiling_basis(link_layer, rate, binding, gts, width)  calculated, validated, unvalidated
    socket_gbps(vendor, family, model)                    planned with between two sockets

NULL where something is not known.
"""

from railwright.hardware.data import NotDocumented
from railwright.hardware.interconnects import interconnects
from railwright.hardware.measurements import measurements
from railwright.hardware.overheads import overhead
from railwright.hardware.pcie import LEAST_PAYLOAD, acknowledgements, generations
from railwright.predict.ceiling import (
    LEAST_MTU,
    MESSAGE,
    NETDEV_HEADERS,
    RDMA_MTUS,
    headers,
    once,
)


def _case(column: str, values: dict[float, str]) -> str:
    cases = " ".join(f"WHEN {key} THEN {value}" for key, value in values.items())
    return f"CASE {column} {cases} END"


def _between() -> str:
    """Bytes between two acknowledgements, by speed, width and payload."""
    found: dict[tuple[float, int], dict[float, str]] = {}
    for (gts, width, payload), between in acknowledgements().items():
        found.setdefault((gts, width), {})[payload] = str(between)
    cases = " ".join(
        f"WHEN gts = {gts} AND width = {width} THEN {_case('payload', values)}"
        for (gts, width), values in found.items()
    )
    return f"CASE {cases} END"


def _basis() -> str:
    ports = {
        (one.link_layer, one.rate_gbps) for one in measurements().values() if one.bound_by == "port"
    }
    links = {
        (one.gts, one.width)
        for one in measurements().values()
        if one.bound_by == "PCIe" and not isinstance(one.gts, NotDocumented)
    }
    seen = [
        *(f"binding = 'port' AND link_layer = '{a}' AND rate = {b}" for a, b in sorted(ports)),
        *(f"binding = 'PCIe' AND gts = {a} AND width = {b}" for a, b in sorted(links, key=str)),
    ]
    validated = " ".join(f"WHEN {one} THEN 'validated'" for one in seen)
    return (
        f"CASE {validated} WHEN binding = 'port' THEN 'calculated' "
        "WHEN binding = 'PCIe' THEN 'unvalidated' END"
    )


def _sockets() -> str:
    cases = " ".join(
        f"WHEN vendor = '{row.vendor}' AND (family = 6 OR '{row.vendor}' <> 'GenuineIntel')"
        f" AND model >= {row.from_model} THEN {8 * row.gbytes}::DOUBLE"
        if row.from_model
        else f"WHEN vendor = '{row.vendor}' THEN {8 * row.gbytes}::DOUBLE"
        for row in interconnects()
    )
    return f"CASE {cases} END"


def _rdma_mtu() -> str:
    cases = " ".join(
        f"WHEN netdev_mtu >= {size + NETDEV_HEADERS} THEN {size}" for size in reversed(RDMA_MTUS)
    )
    return f"CASE {cases} END"


def _definitions() -> dict[str, str]:
    skips = f"{overhead('pcie_skip')} / {overhead('pcie_skip_every')}"
    encoding = {gts: f"{one.payload_bits} / {one.line_bits}" for gts, one in generations().items()}
    write, read = overhead("pcie_write"), overhead("pcie_read_request")
    completion, packet = overhead("pcie_completion"), 2 * overhead("pcie_link_packet")
    wire = f"rate * {MESSAGE} / ({MESSAGE} + ceil({MESSAGE} / mtu) * headers + {{once}})"
    # Any division here is one of doubles: DuckDB's / never is one of integers.
    return {
        "rdma_headers(link_layer, is_ipv4)": (
            f"CASE WHEN link_layer = 'InfiniBand' THEN {headers('InfiniBand')} "
            f"WHEN link_layer = 'Ethernet' AND is_ipv4 THEN {headers('RoCE over IPv4')} "
            f"WHEN link_layer = 'Ethernet' AND NOT is_ipv4 THEN {headers('RoCE over IPv6')} END"
        ),
        "pcie_line_gbps(gts, width)": (
            f"CASE WHEN width > 0 THEN gts * width * ({_case('gts', encoding)}) END"
        ),
        "into_memory_gbps(line, payload)": (
            f"line * (1 - {skips}) * payload / (payload + {write})"
        ),
        "from_memory_gbps(line, payload)": (
            f"line * (1 - {skips}) * payload / (payload + {completion})"
        ),
        # Smaller than the way down in any case: there completions have the shorter headers.
        "both_ways_gbps(gts, width, payload, request)": (
            f"pcie_line_gbps(gts, width) * (1 - {skips} - {packet} / {_between()})"
            f" / (1 + {write} / payload + {read} / request)"
        ),
        "wire_write_gbps(rate, mtu, headers)": wire.format(once=once("write")),
        "wire_read_gbps(rate, mtu, headers)": wire.format(once=once("read")),
        "wire_send_gbps(rate, mtu, headers)": wire.format(once=once("send")),
        "wire_floor_gbps(rate, headers)": f"wire_write_gbps(rate, {LEAST_MTU}, headers)",
        "rdma_mtu(netdev_mtu)": _rdma_mtu(),
        "pcie_gbps(line, payload, completion_payload)": (
            "CASE WHEN payload IS NOT NULL AND completion_payload IS NOT NULL THEN "
            "least(into_memory_gbps(line, payload), from_memory_gbps(line, completion_payload)) END"
        ),
        "pcie_floor_gbps(line)": f"into_memory_gbps(line, {LEAST_PAYLOAD})",
        "ceiling_of(wire, wire_floor, pcie, pcie_floor)": (
            "CASE WHEN wire <= pcie THEN wire WHEN pcie < wire THEN pcie "
            "WHEN pcie IS NULL AND pcie_floor >= wire THEN wire "
            "WHEN wire IS NULL AND wire_floor >= pcie THEN pcie END"
        ),
        # Exact to a thousand bits a second: a sum of doubles differs with the order of its threads.
        "sum_gbps(x)": "sum(x::DECIMAL(18, 6))::DOUBLE",
        # What stands between a ceiling and a better one.
        "cost_gbps(wire, line, payload, better_wire, better_line, better_payload)": (
            "round(ceiling_of(better_wire, NULL, into_memory_gbps(better_line, better_payload), "
            "pcie_floor_gbps(better_line)) - ceiling_of(wire, NULL, "
            "into_memory_gbps(line, payload), pcie_floor_gbps(line)), 1)"
        ),
        "ceiling_basis(link_layer, rate, binding, gts, width)": _basis(),
        "socket_gbps(vendor, family, model)": _sockets(),
    }


def macros(kind: str = "") -> str:
    """All of them."""
    return ";\n".join(
        f"CREATE OR REPLACE {kind} MACRO {head} AS ({body})"
        for head, body in _definitions().items()
    )
