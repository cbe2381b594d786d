"""Sites for plans, from plan_sites/*.yaml: rows of the tables, and a change that is made there.

The rows are those of given.yaml with what a site changes: `add` rows, `set` columns of the rows
that `where` names, `drop` rows. The change is put into the tables that plans are made of.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import yaml

from railwright.check.tables import SCOPES
from railwright.check.trial import filled, trial_database
from railwright.model import derive
from railwright.plan.guards import Kept, Owner, WayIn, families
from railwright.plan.make import Plan, planned
from railwright.plan.paths import ALLOWED, Limits
from railwright.settings.setting import settings

HERE = Path(__file__).parent / "plan_sites"
ALL = Limits("aggressive", frozenset(ALLOWED))  # every option that there is
Rows = dict[str, list[dict[str, Any]]]
# Probes that answered on every host.
ANSWERED = ("config_owners", "ip_address", "ip_route", "modules", "mounts", "netdev", "ssh_session")
# From what to what a setting is changed; the sites are about where, not about what.
VALUES = {
    "nic.pfc": ("none", "3"),
    "switch.pfc": ("none", "3"),
    "netdev.mtu": ("1500", "9000"),
    "link.mtu": ("1500", "9000"),
    "switch.mtu": ("1500", "9216"),
    "nic.fec": ("off", "rs"),
    "switch.fec": ("none", "rs"),
    "nic.speed": ("100000", "400000"),
    "switch.speed": ("100000", "400000"),
    "netdev.up": ("down", "up"),
    "netdev.pause": ("rx and tx", "off"),
    "switch.pause": ("rx,tx", "off"),
    "nic.trust": ("pcp", "dscp"),
    "host.cpu_governor": ("powersave", "performance"),
    "library.setting": ("not set", "106"),
    "switch.lldp": ("off", "on"),
}
# What the steps fill in, where it is not the place of the change.
NAMES = {"rx": "on", "tx": "on", "listed": "3", "autoneg": "off", "file": "nccl.conf"}
_ROW = """
CREATE TEMP TABLE {name} (
    setting VARCHAR, target VARCHAR, subject VARCHAR, now VARCHAR, wanted VARCHAR, state VARCHAR,
    why VARCHAR, write INTEGER, names MAP(VARCHAR, VARCHAR), device VARCHAR, port INTEGER,
    netdev VARCHAR, pci VARCHAR, switch_port VARCHAR, is_clear BOOLEAN, by_peers BOOLEAN{more}
)
"""
_PICKED = ", rule VARCHAR, found_at VARCHAR, severity VARCHAR, rank INTEGER, cost_share DOUBLE"
_ASKED = """
CREATE TEMP TABLE asked (
    rule VARCHAR, severity VARCHAR, rank INTEGER, target VARCHAR, subject VARCHAR,
    link_partner VARCHAR
)
"""


class Asked(NamedTuple):
    """A change: a setting at a place of a machine."""

    setting: str
    target: str
    place: str  # network device, PCI address or port; '' = the machine


class Site(NamedTuple):
    """One site of a file."""

    name: str
    rows: Rows
    refuse: Asked
    why: str  # how the reason begins
    allow: Asked
    said: dict[str, Any]  # everything else

    @property
    def kept(self) -> Kept:
        """With every option on."""
        ways = [WayIn(target, given) for target, given in self.said.get("ways_in", {}).items()]
        owners = [Owner(*one) for one in self.said.get("owners", ())]
        return Kept(ALL, ways, self.said.get("never_touch", ()), owners)


def _given() -> Rows:
    rows: Rows = yaml.safe_load((HERE / "given.yaml").read_text("utf-8"))
    rows["probe_result"] = [
        {"target": one["target"], "probe": probe, "instance": "", "status": "ok"}
        for one in rows["target"]
        if one["kind"] == "host"
        for probe in ANSWERED
    ]
    return rows


def _fits(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(row.get(key) == value for key, value in where.items())


def _changed(name: str, rows: Rows, body: dict[str, Any]) -> Rows:
    for one in body.pop("set", ()):
        where = one.get("where", {})
        ((table, values),) = ((k, v) for k, v in one.items() if k != "where")
        found = [row for row in rows[table] if _fits(row, where)]
        assert found, f"{name}: no row of {table} is {where}"
        for row in found:
            row.update(values)
    for one in body.pop("drop", ()):
        ((table, where),) = one.items()
        left = [row for row in rows[table] if not _fits(row, where)]
        assert len(left) < len(rows[table]), f"{name}: no row of {table} is {where}"
        rows[table] = left
    for table, more in body.pop("add", {}).items():
        rows.setdefault(table, []).extend(deepcopy(more))
    return rows


def sites(*files: str) -> Iterator[Site]:
    """All sites of these files."""
    for file in files:
        for name, body in yaml.safe_load((HERE / f"{file}.yaml").read_text("utf-8")).items():
            rows = _changed(name, _given(), body)
            *refuse, why = body.pop("refuse")
            yield Site(
                f"{file}: {name}", rows, Asked(*refuse), why, Asked(*body.pop("allow")), body
            )


# ---- a change as a row of the tables that plans are made of


def _row(asked: Asked, site: Site, state: str = "change", **values: Any) -> dict[str, Any]:
    setting = settings()[asked.setting]
    pci = next(
        (
            row["pci"]
            for row in site.rows["netdev"]
            if row["target"] == asked.target and row["name"] == asked.place
        ),
        None,
    )
    kind = setting.subject.kind
    is_switch = setting.area == "switch"
    system = site.said.get("system", "sonic") if is_switch else ""
    write = next((n for n, one in enumerate(setting.writes) if one.system == system), 0)
    now, wanted = VALUES.get(asked.setting, ("0", "1"))
    names = {name: NAMES.get(name, asked.place or "true") for name in setting.names()}
    of_device = not is_switch and kind != "end" and asked.place and ":" not in asked.place
    return {
        "setting": asked.setting,
        "target": asked.target,
        "subject": f"{asked.target}:{asked.place}",
        "now": now,
        "wanted": wanted,
        "state": state,
        "why": "",
        "write": write,
        "names": names,
        "device": None,
        "port": None,
        "netdev": asked.place if of_device else None,
        "pci": asked.place if ":" in asked.place else (pci if of_device else None),
        "switch_port": asked.place if kind == "end" else None,
        "is_clear": True,
        "by_peers": False,
        **values,
    }


def _partners(asked: Asked, site: Site) -> Iterator[tuple[Asked, dict[str, Any]]]:
    """Every other end has what is wanted, unless the site says otherwise."""
    family = next((m for m in families().values() if asked.setting in m), ())
    for end in site.rows["link_end"]:
        area = "switch" if end["kind"] == "switch" else None
        for name in family:
            other = settings()[name]
            if (other.area == "switch") is (area == "switch") and name != "link.mtu":
                one = Asked(name, end["target"], end["port"])
                yield one, _row(one, site, "leave", now=VALUES[name][1])


def _insert(database: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]]) -> None:
    columns, marks = ", ".join(rows[0]), f"({', '.join('?' * len(rows[0]))})"
    values = [value for row in rows for value in row.values()]
    every = ", ".join([marks] * len(rows))
    database.execute(f"INSERT INTO {table} ({columns}) VALUES {every}", values)


def _cards(ports: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Cards of which nothing waits, and that can be reset."""
    places = {(row["target"], row["pci"]) for row in ports if row.get("pci")}
    at = [{"target": target, "pci": pci} for target, pci in sorted(places)]
    card = {"vendor": "15b3", "device_id": "1021", "role": "compute", "driver": "mlx5_core"}
    stored = {"name": "CQE_COMPRESSION", "port": 0, "element": -1, "read_only": False}
    values = {"current_text": "0", "current_code": 0, "next_text": "0", "next_code": 0}
    return {
        "nic_scope": [{**one, **card, "virtualization": "bare metal", "vf_count": 0} for one in at],
        "nic_firmware": [{**one, "version": "1", "running_version": ""} for one in at],
        "nic_parameter": [{**one, **stored, **values} for one in at],
        "nic_reset": [{**one, "supported_levels": "3,4"} for one in at],
    }


@contextmanager
def _opened(database: duckdb.DuckDBPyConnection, site: Site) -> Iterator[None]:
    cards = _cards(site.rows["port_scope"])
    every = {
        name: [*cards.get(name, ()), *site.rows.get(name, ())] for name in {**site.rows, **cards}
    }
    own = {f"temp.{t}" if t in SCOPES else t: rows for t, rows in every.items() if rows}
    with filled(database, own, ()):
        for query in derive.queries_of("netdev_stack"):
            database.execute(f"INSERT INTO netdev_stack BY NAME ({query})")
        yield


def plan_of(database: duckdb.DuckDBPyConnection, site: Site) -> Plan:
    """The plan of both changes at this site, in a database of `trial_database()`."""
    with _opened(database, site):
        database.execute(_ROW.format(name="change_row", more=""))
        database.execute(_ROW.format(name="picked", more=_PICKED))
        database.execute(_ASKED)
        both = (site.refuse, site.allow)
        rows = {asked: _row(asked, site) for asked in both}
        told = {(target, place): values for target, place, values in site.said.get("partners", ())}
        others = {
            name: {**row, **told.get((name.target, name.place), {})}
            for asked in both
            for name, row in _partners(asked, site)
            if name not in both
        }
        _insert(database, "change_row", [*rows.values(), *others.values()])
        found = {"rule": "r", "severity": "high", "rank": 1}
        picked = [{**row, **found, "found_at": row["subject"]} for row in rows.values()]
        _insert(database, "picked", picked)
        return planned(database, site.kept)


__all__ = ["Asked", "Site", "plan_of", "sites", "trial_database"]
