"""The RDMA ports of one host on a few lines: role, QoS, optics. Equal ports are one line."""

from typing import Any

from railwright.nodes import fold
from railwright.report.adapters import Facts
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, padded, widths
from railwright.report.tree import NOT_READ

# NULL is what was not read; `-` what a port cannot have.
_PORTS = """
SELECT p.device || CASE p.port WHEN 1 THEN '' ELSE '/' || p.port END,
       p.role || CASE WHEN p.role_dispute <> '' THEN ' (disputed)' ELSE '' END, p.gpu_relation,
       CASE WHEN p.link_layer <> 'Ethernet' OR p.netdev = '' THEN '-' ELSE q.trust END,
       CASE WHEN p.link_layer <> 'Ethernet' OR p.netdev = '' THEN '-' ELSE q.priorities END,
       m.fec, m.part_number,
       CASE WHEN m.monitored IS FALSE THEN '-' ELSE format('{:.0f} C', m.temperature_c) END
FROM (FROM port WHERE target = $1) AS p
LEFT JOIN (
    SELECT p.device, p.port,
           CASE WHEN count(q.trust) = count(*)
                THEN string_agg(DISTINCT q.trust, ' or ' ORDER BY q.trust) END AS trust,
           CASE WHEN count(q.pfc_mask) = count(*)
                THEN string_agg(DISTINCT CASE q.pfc_mask WHEN 0 THEN 'none' ELSE array_to_string(
                    [x FOR x IN range(8) IF q.pfc_mask & (1 << x) <> 0], ',') END, ' or ')
                END AS priorities
    FROM (FROM port WHERE target = $1) AS p
    -- Of a bond its members have the QoS: one that is set otherwise is shown beside the others.
    LEFT JOIN (FROM bond_member WHERE target = $1) AS b ON b.bond = p.netdev
    LEFT JOIN (FROM netdev_qos WHERE target = $1) AS q ON q.netdev = coalesce(b.member, p.netdev)
    GROUP BY ALL
) AS q ON q.device = p.device AND q.port = p.port
LEFT JOIN (FROM mlxlink_port WHERE target = $1) AS m ON m.pci = p.pci
ORDER BY length(p.device), p.device, p.port
"""
_TITLE = ("ports", "role", "GPU", "trust", "PFC on", "FEC", "module or cable", "hottest")
_DISAGREEMENTS = """
SELECT fact, subject, value_a || ' (' || source_a || ')', value_b || ' (' || source_b || ')'
FROM disagreement WHERE target = ? ORDER BY ALL
"""


def print_ports(screen: Screen, facts: Facts) -> bool:
    """The block; True where something in it was not read."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    hottest: dict[tuple[Any, ...], list[str]] = {}
    for name, *cells, temperature in facts.rows(_PORTS):
        key = tuple(cells)
        groups.setdefault(key, []).append(plain(name))
        hottest.setdefault(key, []).append(NOT_READ if temperature is None else temperature)
    if not groups:
        return False
    rows = [
        (fold(names), *(_cell(cell) for cell in key), _hottest(hottest[key]))
        for key, names in groups.items()
    ]
    columns = widths([_TITLE, *rows])
    screen.line()
    screen.heading("RDMA ports", ": role inferred from slot and type of card")
    screen.line(cut(screen, "  " + padded(_TITLE, columns)), "dim")
    for row in rows:
        screen.line(cut(screen, "  " + padded(row, columns)), "yellow" if NOT_READ in row else "")
    return any(NOT_READ in row for row in rows)


def _cell(value: object) -> str:
    return NOT_READ if value is None else plain(str(value)) or "-"


def _hottest(values: list[str]) -> str:
    """The hottest of those that were read; one that was not is said."""
    read = [int(value.split()[0]) for value in values if value.endswith(" C")]
    text = f"{max(read)} C" if read else values[0]
    missing = values.count(NOT_READ)
    return f"{text}, {missing} {NOT_READ}" if read and missing else text


def print_disagreements(screen: Screen, facts: Facts) -> None:
    """What two sources of this host do not agree about."""
    rows = [tuple(plain(cell) for cell in row) for row in facts.rows(_DISAGREEMENTS)]
    if not rows:
        return
    screen.line()
    screen.heading("Two sources disagree")
    columns = widths(rows)
    for row in rows:
        screen.line(cut(screen, "  " + padded(row, columns)), "yellow")
