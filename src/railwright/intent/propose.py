"""A first site file from what a fleet mostly is: to be read by a person, not to be trusted."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.intent.propose_classes import classes
from railwright.intent.site import ROLES
from railwright.store.duck import read_sql
from railwright.text import plain
from railwright.toml import toml_text

_COMPUTE_PORTS = read_sql(__file__, "compute_ports.sql")
# What most compute ports have, per setting: the SELECT gives one value per port, NULL = not read.
_SETTINGS = {
    "trust": "SELECT trust FROM compute_qos",
    "lossless_priorities": "SELECT CASE WHEN pfc_mask IS NOT NULL "
    "THEN [x FOR x IN range(8) IF pfc_mask & (1 << x) <> 0] END FROM compute_qos",
    "mtu": "SELECT n.mtu FROM compute_port AS p LEFT JOIN netdev AS n "
    "ON n.target = p.target AND n.name = p.netdev",
    "max_read_request": "SELECT c.max_read_request FROM compute_port AS p "
    "LEFT JOIN pci_config AS c USING (target, pci)",
}


class Most(NamedTuple):
    """What most have, and how many of how many."""

    value: object
    have: int
    total: int


def _most(database: duckdb.DuckDBPyConnection, query: str) -> Most | None:
    """The commonest value, if more than half have it even if all that were not read differ."""
    found = database.execute(
        f"SELECT v, count(*) AS n, sum(count(*)) OVER () FROM ({query}) AS t(v) "
        "GROUP BY v ORDER BY v IS NULL, n DESC LIMIT 1"
    ).fetchone()
    if found is None or found[0] is None or 2 * found[1] <= found[2]:
        return None
    return Most(*found)


def _profile(  # noqa: PLR0911 (one for each profile)
    database: duckdb.DuckDBPyConnection,
) -> tuple[str, str]:
    """(profile, why): from the link layer and from what PFC and ECN are."""
    layer = _most(database, "SELECT link_layer FROM port WHERE role = 'compute'")
    if layer is None:
        return "observe", "what most compute ports are cannot be told"
    if layer.value == "InfiniBand":
        return "infiniband", f"{layer.have:,} of {layer.total:,} compute ports are InfiniBand"
    pfc = _most(database, _SETTINGS["lossless_priorities"])
    ecn = _most(
        database,
        "SELECT bool_or(e.enabled) FROM compute_qos AS q LEFT JOIN ecn_priority AS e "
        "ON e.target = q.target AND e.netdev = q.carrier GROUP BY q.target, q.netdev",
    )
    if pfc is None:
        return "observe", "PFC was not read on most compute ports, or differs"
    there = f"at {pfc.have:,} of {pfc.total:,} compute ports"
    if not pfc.value:
        return "roce-lossy", f"PFC is off {there}"
    if ecn is None:
        return "observe", f"PFC is on {there}, but whether ECN is was not read"
    if ecn.value:
        return "roce-lossless", f"PFC and ECN are on {there}"
    return "roce-pfc-only", f"PFC is on and ECN off {there}"


def _fabric(database: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for name, query in _SETTINGS.items():
        found = _most(database, query)
        if found is None:
            yield f"# {name}: not read, or no value that most compute ports have"
        else:
            value = toml_text(found.value)
            yield f"{name} = {value}  # {found.have:,} of {found.total:,} compute ports"


def _nics(database: duckdb.DuckDBPyConnection) -> Iterator[str]:
    rows = database.execute(
        "SELECT psid, list(DISTINCT firmware_version ORDER BY firmware_version), count(*), "
        "mode(firmware_version), count(*) FILTER (firmware_version IS NULL) "
        "FROM rdma_device WHERE psid <> '' GROUP BY psid ORDER BY count(*) DESC, psid"
    ).fetchall()
    for psid, versions, count, usual, unread in rows:
        rare = ", ".join(plain(version) for version in versions if version != usual)
        others = f", also {rare}" if rare else ""
        lacking = f", {unread:,} not read" if unread else ""
        yield ""
        yield f"[[nic]]  # {count:,} functions{others}{lacking}"
        yield f"psid = {toml_text(psid)}"
        yield f"firmware = {toml_text(usual)}" if usual else "# firmware = ?  # not read"


def _roles(database: duckdb.DuckDBPyConnection) -> Iterator[str]:
    rows = database.execute(
        "SELECT role, device, count(*), (SELECT count(*) FROM port o WHERE o.device = p.device) "
        f"FROM port p WHERE role IN {ROLES} GROUP BY role, device ORDER BY role, device"
    ).fetchall()
    settled: dict[str, list[str]] = {}
    for role, device, count, total in rows:
        if count == total:
            settled.setdefault(role, []).append(device)
    for role, devices in settled.items():
        yield ""
        yield "[[role]]  # inferred: read it, then it is your word"
        yield f"role = {toml_text(role)}"
        yield f"devices = {toml_text(devices)}"
    if len({(device) for _, device, _, _ in rows}) > sum(map(len, settled.values())):
        yield '# Some devices have different roles on different hosts: name them with hosts = "…".'


def proposal(database: duckdb.DuckDBPyConnection, name: str) -> str:
    """The text of a site file."""
    database.execute(_COMPUTE_PORTS)
    profile, why = _profile(database)
    lines = [
        f"# Proposed from snapshot {name}: what most of the fleet is, which need not be what it",
        "# should be. Read every line; delete what you do not want to be held to.",
        "",
        f'profile = "{profile}"  # {why}',
        '# cabling = "cabling.csv"  # the cabling plan: docs/site.md says its columns',
        "",
        "[fabric]",
        *_fabric(database),
        *classes(database),
        *_nics(database),
        *_roles(database),
    ]
    return "\n".join(lines) + "\n"
