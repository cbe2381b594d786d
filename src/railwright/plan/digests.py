"""A digest of each machine, over what its changes and their guards read: apply refuses another.

Counters and times are not in it: no setting reads one. What the site file says has a digest of its
own. The digest does not depend on the order of rows or on the version of DuckDB.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

import duckdb

from railwright.plan.plan import Group
from railwright.schema.table import intent_tables
from railwright.settings.setting import settings
from railwright.store.duck import identifier, quote, read_sql

_PART = read_sql(__file__, "digest_part.sql")
_WHOLE = read_sql(__file__, "digest_whole.sql")
GUARDS = (
    *("ssh_session.server", "ssh_route.netdev", "ssh_route.type", "ip_rule.routing_table"),
    *("route.destination", "route.netdev", "route.routing_table"),
    *("address.netdev", "address.address", "netdev_role.netdev", "netdev_role.role"),
    *("netdev.name", "netdev.master", "netdev.pci", "netdev_stack.netdev", "netdev_stack.below"),
    *("bond.netdev", "bond_member.bond", "bond_member.member", "kubernetes_label.name"),
    *("mount.mount_point", "mount.transport", "mount.server", "mount.rests_on"),
    *("config_owner.owner", "config_owner.netdev", "config_owner.name", "config_owner.value"),
)


def digests(
    database: duckdb.DuckDBPyConnection, groups: Collection[Group], restarted: Collection[str]
) -> dict[str, str]:
    """Machine -> digest, of every machine that the plan changes."""
    at: dict[str, set[str]] = defaultdict(set)
    for one in groups:
        at[one.setting.id].update(one.targets)
    every = {target for targets in at.values() for target in targets} | set(restarted)
    if not every:
        return {}
    database.execute("CREATE TEMP TABLE digest_part (target VARCHAR, part VARCHAR, digest VARCHAR)")
    known = settings()
    for name, targets in at.items():
        _add(database, name, (*known[name].reads, *known[name].uses), targets)
    _add(database, "", GUARDS, every)
    return dict(database.execute(_WHOLE).fetchall())


def _add(
    database: duckdb.DuckDBPyConnection, name: str, needs: Iterable[str], targets: Collection[str]
) -> None:
    columns: dict[str, set[str]] = defaultdict(set)
    for need in needs:
        table, _, column = need.rpartition(".")
        if table not in intent_tables():
            columns[table].add(column)
    for table, chosen in sorted(columns.items()):
        listed = ", ".join(map(identifier, sorted(chosen)))
        part = quote(f"{name} {table}")
        query = _PART.format(part=part, columns=listed, table=identifier(table))
        database.execute(query, {"targets": sorted(targets)})
