"""Site -> the tables that rules read, for the machines of one snapshot."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from railwright.intent.cabling import Names, planned_rows
from railwright.intent.roles import declared_roles
from railwright.intent.site import Site
from railwright.node_sets import unfold
from railwright.schema.table import intent_tables
from railwright.store.duck import connect, copy_query, identifier, quote, read_spool

Row = dict[str, Any]


def _site_row(site: Site) -> Row:
    said = dict(site.fabric)
    row: Row = {"profile": site.profile, "fabric_mode": site.mode}
    if "lossless_priorities" in said:
        row["pfc_mask"] = sum(1 << priority for priority in set(said.pop("lossless_priorities")))
    if "mtu" in said:
        row["netdev_mtu"] = said.pop("mtu")
    return {**row, **said}


def _targets(database: duckdb.DuckDBPyConnection, facts: Path, entry: Row) -> list[str]:
    """The machines that an entry speaks of: those it names, those of a kind, else all."""
    if "hosts" in entry:
        return unfold(entry["hosts"])
    if "kind" in entry:
        query = f"SELECT target FROM read_parquet({quote(str(facts / 'host_kind.parquet'))})"
        return [
            n for (n,) in database.execute(f"{query} WHERE kind = ?", [entry["kind"]]).fetchall()
        ]
    return _machines(database, facts)


def _machines(database: duckdb.DuckDBPyConnection, facts: Path) -> list[str]:
    """The hosts of the snapshot."""
    file = quote(str(facts / "target.parquet"))
    query = f"SELECT target FROM read_parquet({file}) WHERE kind = 'host'"
    return [name for (name,) in database.execute(query).fetchall()]


def _of_no_kind(database: duckdb.DuckDBPyConnection, facts: Path) -> list[str]:
    """The machines of which nobody has read what is in them."""
    target, kind = (
        f"read_parquet({quote(str(facts / f'{n}.parquet'))})" for n in ("target", "host_kind")
    )
    query = (
        f"SELECT t.target FROM {target} t LEFT JOIN {kind} k USING (target) "
        "WHERE t.kind = 'host' AND k.kind IS NULL"
    )
    return [name for (name,) in database.execute(query).fetchall()]


def _class_rows(database: duckdb.DuckDBPyConnection, facts: Path, site: Site) -> Iterator[Row]:
    found: dict[str, Row] = {}
    for entry in site.classes:  # the last one that names a machine counts
        if "kind" in entry and "hosts" not in entry:
            for target in _of_no_kind(database, facts):  # it may be one of them
                found[target] = {"target": target}
        not_of_hosts = ("hosts", "kind", "name", "slots")
        said = {key: value for key, value in entry.items() if key not in not_of_hosts}
        if entry.get(
            "unconfirmed"
        ):  # a proposal: one verdict says that it is, and nothing is wanted
            said = {}
        said |= {"has_slots": "slots" in entry, "unconfirmed": entry.get("unconfirmed", False)}
        for target in _targets(database, facts, entry):
            found[target] = {"target": target, "class": entry["name"], **said}
    # One that is out of service and was not asked is missed by nobody.
    away = {name for nodes in site.away for name in unfold(nodes)} - set(_machines(database, facts))
    yield from (row for target, row in found.items() if target not in away)


def _part_rows(site: Site) -> Iterator[Row]:
    for entry in site.classes:
        for slot in entry.get("slots", []):
            others = {key: value for key, value in slot.items() if key != "at"}
            yield {"class": entry["name"], "slot": slot["at"], "part": "", **others}


def _role_rows(database: duckdb.DuckDBPyConnection, facts: Path, site: Site) -> Iterator[Row]:
    ports = f"read_parquet({quote(str(facts / 'port.parquet'))})"
    for key in database.execute(declared_roles(site, ports)).fetchall():
        yield dict(zip(("target", "device", "port", "role"), key, strict=True))


def _nic_rows(site: Site) -> tuple[list[Row], list[Row]]:
    firmware = [{"psid": n["psid"], "version": n["firmware"]} for n in site.nics if "firmware" in n]
    parameters = [
        {"psid": nic["psid"], "name": name, "value": str(value)}
        for nic in site.nics
        for name, value in nic.get("parameters", {}).items()
    ]
    return firmware, parameters


def _cable_rows(database: duckdb.DuckDBPyConnection, facts: Path, site: Site) -> Iterator[Row]:
    if site.cables:
        yield from planned_rows(Names(database, facts), site.cables)


def write_intent(site: Site, facts: Path, folder: Path) -> None:
    """All intent tables as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with connect(folder / "tmp") as database:
        firmware, parameters = _nic_rows(site)
        content: dict[str, Iterator[Row]] = {
            "site": iter([_site_row(site)]),
            "node_class": _class_rows(database, facts, site),
            "wanted_part": _part_rows(site),
            "declared_role": _role_rows(database, facts, site),
            "wanted_firmware": iter(firmware),
            "wanted_parameter": iter(parameters),
            "planned_link": _cable_rows(database, facts, site),
        }
        for name, table in intent_tables().items():
            spool = folder / f"{name}.ndjson"
            with spool.open("w", encoding="utf-8") as file:
                for row in content[name]:
                    file.write(json.dumps(row) + "\n")
            kinds = table.column_types()
            picked = ", ".join(map(identifier, kinds))
            if spool.stat().st_size:
                query = f"SELECT {picked} FROM {read_spool(spool, kinds)}"
            else:
                empty = ", ".join(f"NULL::{kind} AS {identifier(n)}" for n, kind in kinds.items())
                query = f"SELECT {empty} WHERE false"
            copy_query(database, query, folder / f"{name}.parquet")
            spool.unlink()
