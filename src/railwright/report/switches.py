"""Switches in the reports: the kinds of a fleet in groups, and one of them with its ports."""

import duckdb

from railwright.nodes import fold
from railwright.report.adapters import Facts
from railwright.report.console import plain
from railwright.report.screen import Screen, cut, number_of, padded, widths, with_hosts
from railwright.report.tree import NOT_READ

# Several answers tell about one switch or port: what is in force before what is configured.
_IN_FORCE = "ORDER BY probe LIKE '%config%'"
_KINDS = f"""
SELECT w.system, w.model, w.version, p.ports::VARCHAR, p.up::VARCHAR, list(t.target)
FROM (SELECT target FROM target WHERE kind = 'switch' AND status IN ('reached', 'incomplete')) AS t
LEFT JOIN (
    SELECT target, first(system {_IN_FORCE}) AS system,
           first(model {_IN_FORCE}) FILTER (model <> '') AS model,
           first(version {_IN_FORCE}) FILTER (version IS NOT NULL) AS version
    FROM switch GROUP BY target
) AS w USING (target)
LEFT JOIN (
    SELECT target, count(*) AS ports, CASE WHEN count(up) > 0 THEN count(*) FILTER (up) END AS up
    FROM (SELECT target, port, first(is_up {_IN_FORCE}) FILTER (is_up IS NOT NULL) AS up
          FROM switch_port GROUP BY target, port)
    GROUP BY target
) AS p USING (target)
GROUP BY ALL ORDER BY count(*) DESC, 1, 2, 3, 4, 5
"""
_TITLE = ("switches", "system", "model", "version", "ports", "up")
_PORTS = f"""
SELECT p.port, p.is_up, p.speed, p.fec, p.mtu, q.trust, f.priorities, n.heard
FROM (
    SELECT port,
           first(is_up {_IN_FORCE}) FILTER (is_up IS NOT NULL) AS is_up,
           first(speed_mbps {_IN_FORCE}) FILTER (speed_mbps IS NOT NULL) AS speed,
           first(coalesce(fec_active, fec_configured) {_IN_FORCE})
               FILTER (coalesce(fec_active, fec_configured) IS NOT NULL) AS fec,
           first(mtu {_IN_FORCE}) FILTER (mtu IS NOT NULL) AS mtu
    FROM switch_port WHERE target = $1 GROUP BY port
) AS p
LEFT JOIN (
    SELECT port, first(trust {_IN_FORCE}) FILTER (trust IS NOT NULL) AS trust
    FROM switch_port_qos WHERE target = $1 GROUP BY port
) AS q USING (port)
LEFT JOIN (
    SELECT port, coalesce(string_agg(priority::VARCHAR, ',' ORDER BY priority) FILTER (enabled),
                          'none') AS priorities
    FROM (SELECT port, priority, first(enabled {_IN_FORCE}) FILTER (enabled IS NOT NULL) AS enabled
          FROM switch_pfc WHERE target = $1 GROUP BY port, priority)
    GROUP BY port HAVING count(enabled) = count(*)
) AS f USING (port)
LEFT JOIN (
    SELECT port, string_agg(system_name || ' ' || coalesce(nullif(port_description, ''), port_id),
                            ', ' ORDER BY place) AS heard
    FROM switch_neighbor WHERE target = $1 GROUP BY port
) AS n USING (port)
ORDER BY length(p.port), p.port
"""
_PORT_TITLE = ("ports", "link", "speed", "FEC", "MTU", "trust", "PFC on", "hears")


def _cell(value: object) -> str:
    return NOT_READ if value is None else plain(str(value)) or "-"


def print_switches(screen: Screen, database: duckdb.DuckDBPyConnection) -> None:
    """Which switches there are, in groups of the same."""
    found = database.execute(_KINDS).fetchall()
    if not found:
        return
    everyone = sorted(name for *_, names in found for name in names)
    rows = [(f"{len(names):,}", *(_cell(cell) for cell in cells)) for *cells, names in found]
    columns = widths([_TITLE, *rows])
    screen.line()
    screen.heading("Switches", f": {len(everyone):,} answered")
    screen.line("  " + padded(_TITLE, columns, 1), "dim")
    for row, (*_, names) in zip(rows, found, strict=True):
        line = "  " + padded(row, columns, 1)
        for part in with_hosts(screen, line, names, everyone, 4):
            screen.line(part, "yellow" if NOT_READ in row else "")


def print_switch(screen: Screen, facts: Facts) -> bool:
    """One switch and its ports; True where something in it was not read."""
    about = facts.rows(
        "SELECT string_agg(DISTINCT system, ', '), max(model) FILTER (model <> ''), max(version), "
        "max(hostname) FILTER (hostname <> '') FROM switch WHERE target = ?"
    )[0]
    said = [plain(part) for part in about[:3] if part]
    named = [f"calls itself {plain(about[3])}"] if about[3] else []
    screen.line(", ".join([*said, *named]) or "Which system it has was not read.")
    found = facts.rows(_PORTS)
    if not found:
        return False
    groups: dict[tuple[str, ...], list[str]] = {}
    for port, is_up, speed, *cells, heard in found:
        link = None if is_up is None else ("up" if is_up else "down")
        rate = None if speed is None else f"{speed / 1000:g}G"
        key = (*(_cell(cell) for cell in (link, rate, *cells)), _cell(heard or ""))
        groups.setdefault(key, []).append(plain(port))
    rows = [(fold(names), *key) for key, names in groups.items()]
    columns = widths([_PORT_TITLE, *rows])
    screen.line()
    screen.heading(number_of(len(found), "port"))
    screen.line(cut(screen, "  " + padded(_PORT_TITLE, columns)), "dim")
    for row in rows:
        screen.line(cut(screen, "  " + padded(row, columns)), "yellow" if NOT_READ in row else "")
    return any(NOT_READ in row for row in rows)
