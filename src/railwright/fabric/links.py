"""Every link once: its ends, and in what they differ."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

# The end nearer to the hosts stands first; one whose neighbour names another is a row of its own.
_LINK = """
CREATE OR REPLACE TEMP TABLE link AS
WITH pair AS (
    SELECT e.target AS a_target, e.port AS a_port, e.peer AS b_target, e.peer_port AS b_port,
           e.tier AS a_tier, p.tier AS b_tier, e.role, e.peer_kind, e.told_by, e.trouble,
           e.speed_mbps, p.target IS NOT NULL AS is_read,
           e.is_up IS false OR p.is_up IS false AS is_down,
           list_filter([
               CASE WHEN e.speed_mbps <> p.speed_mbps
                    THEN printf('speed %dG / %dG', e.speed_mbps // 1000, p.speed_mbps // 1000) END,
               CASE WHEN e.fec <> p.fec THEN 'FEC ' || e.fec || ' / ' || p.fec END,
               CASE WHEN e.autonegotiation <> p.autonegotiation
                    THEN 'autonegotiation '
                         || CASE WHEN e.autonegotiation THEN 'on / off' ELSE 'off / on' END END,
               -- A host may send less than a switch can take.
               CASE WHEN e.mtu > p.mtu OR (e.kind = p.kind AND e.mtu < p.mtu)
                    THEN 'MTU ' || e.mtu || ' / ' || p.mtu END,
               -- As XHP-01 has it: what a host pauses must be paused by the switch, which may have
               -- more; two switches must share one.
               CASE WHEN e.pfc_mask <> p.pfc_mask AND (
                        e.pfc_mask = 0 OR p.pfc_mask = 0
                        OR CASE WHEN e.kind = 'host' THEN e.pfc_mask & (255 - p.pfc_mask) <> 0
                                WHEN p.kind = 'host' THEN p.pfc_mask & (255 - e.pfc_mask) <> 0
                                ELSE e.pfc_mask & p.pfc_mask = 0 END)
                    THEN 'PFC ' || priorities(e.pfc_mask) || ' / ' || priorities(p.pfc_mask) END,
               CASE WHEN (e.trust IN ('dscp', 'both')) <> (p.trust IN ('dscp', 'both'))
                    THEN 'trust ' || e.trust || ' / ' || p.trust END,
               CASE WHEN e.dscp_classes[data_dscp() + 1] <> p.dscp_classes[data_dscp() + 1]
                    THEN 'DSCP ' || data_dscp() || ' gets ' || e.dscp_classes[data_dscp() + 1]
                         || ' / ' || p.dscp_classes[data_dscp() + 1] END,
               -- Which class CNPs have inside a host is its own affair.
               CASE WHEN e.kind = p.kind
                         AND e.dscp_classes[cnp_dscp() + 1] <> p.dscp_classes[cnp_dscp() + 1]
                    THEN 'DSCP ' || cnp_dscp() || ' gets ' || e.dscp_classes[cnp_dscp() + 1]
                         || ' / ' || p.dscp_classes[cnp_dscp() + 1] END
           ], lambda text: text IS NOT NULL) AS differs,
           CASE WHEN l.peer <> e.peer OR l.peer_port <> e.peer_port
                THEN 'planned to ' || l.peer || ':' || l.peer_port
                WHEN m.peer <> e.target OR m.peer_port <> e.port
                THEN m.target || ':' || m.port || ' planned to ' || m.peer || ':' || m.peer_port
           END AS planned
    FROM link_end AS e
    LEFT JOIN link_end AS p ON p.target = e.peer AND p.port = e.peer_port
    LEFT JOIN planned_link AS l ON l.target = e.target AND l.port = e.port
    LEFT JOIN planned_link AS m ON m.target = e.peer AND m.port = e.peer_port
    WHERE e.peer <> '' AND (p.target IS NULL OR p.peer IS DISTINCT FROM e.target
                            OR p.peer_port IS DISTINCT FROM e.port
                            OR row(coalesce(e.tier, 99), e.target, e.port)
                               < row(coalesce(p.tier, 99), p.target, p.port))
)
SELECT *, array_to_string(list_concat(differs, list_filter([
    CASE WHEN is_down THEN 'down' END,
    CASE WHEN trouble <> '' THEN trouble END,
    planned
], lambda text: text IS NOT NULL)), ', ') AS odd
FROM pair
"""
_COUNTS = """
SELECT count(*), count(*) FILTER (peer_kind = 'switch' AND a_tier = 0 OR role = 'host'),
       count(*) FILTER (role = 'fabric'), count(*) FILTER (peer_kind = 'stranger'),
       count(*) FILTER (told_by = 'both'), count(*) FILTER (len(differs) > 0),
       count(*) FILTER (is_down), count(*) FILTER (trouble <> ''), count(planned)
FROM link
"""


class Counts(NamedTuple):
    """How many links there are."""

    links: int
    host: int
    fabric: int
    stranger: int
    told_by_both: int
    differ: int
    down: int
    trouble: int
    unplanned: int


class Link(NamedTuple):
    """One link."""

    a: str
    b: str
    tiers: str
    speed_mbps: int | None
    told_by: str
    odd: str


def make_links(
    database: duckdb.DuckDBPyConnection, data_dscp: int | None, cnp_dscp: int | None
) -> Counts:
    """The table `link`, over link_end and planned_link, and what is in it."""
    for name, value in (("data_dscp", data_dscp), ("cnp_dscp", cnp_dscp)):
        said = "NULL" if value is None else int(value)
        database.execute(f"CREATE OR REPLACE TEMP MACRO {name}() AS {said}::INTEGER")
    bits = ", ".join(f"CASE WHEN mask >> {bit} & 1 = 1 THEN '{bit}' END" for bit in range(8))
    database.execute(
        "CREATE OR REPLACE TEMP MACRO priorities(mask) AS "
        f"coalesce(nullif(concat_ws(',', {bits}), ''), 'none')"
    )
    database.execute(_LINK)
    found = database.execute(_COUNTS).fetchone()
    return Counts(*(found or (0,) * 9))


def links(
    database: duckdb.DuckDBPyConnection, hosts: list[str] | None, role: str, *, only_odd: bool
) -> Iterator[Link]:
    """The links that are asked for, the odd ones first."""
    query = """
        SELECT a_target || ':' || a_port, b_target || ':' || b_port,
               coalesce(a_tier::VARCHAR, '?') || '-' || coalesce(b_tier::VARCHAR, '?'),
               speed_mbps, told_by, odd
        FROM link
        WHERE ($hosts IS NULL OR list_contains($hosts::VARCHAR[], a_target)
               OR list_contains($hosts::VARCHAR[], b_target))
          AND ($role = '' OR $role = CASE WHEN role = 'fabric' THEN 'fabric'
                                          WHEN a_tier = 0 OR role = 'host' THEN 'host' END)
          AND (odd <> '' OR NOT $only_odd)
        ORDER BY odd = '', a_tier, a_target, length(a_port), a_port
    """
    rows = database.execute(query, {"hosts": hosts, "role": role, "only_odd": only_odd})
    while many := rows.fetchmany(10_000):
        for row in many:
            yield Link(*row)
