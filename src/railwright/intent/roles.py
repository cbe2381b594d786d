"""What every port of a host is for, the same for every command: the site's word, else inferred."""

from railwright.intent.site import Site
from railwright.node_sets import unfold
from railwright.schema.table import intent_tables
from railwright.store.duck import identifier, quote, read_sql

_SITE_PORT = read_sql(__file__, "site_port.sql")


def site_port(kind: str = "temp view") -> str:
    """`site_port`, over the tables `port` and `declared_role`."""
    return _SITE_PORT.replace("{kind}", kind)


def declared_roles(site: Site | None, ports: str = "port") -> str:
    """The SELECT of `declared_role`: of entries that name the same port the last one counts."""
    parts = []
    for number, entry in enumerate(site.roles if site else ()):
        column = "device" if "devices" in entry else "netdev"
        named = " OR ".join(f"{column} GLOB {quote(glob)}" for glob in entry[f"{column}s"])
        hosts = ""
        if "hosts" in entry:
            hosts = f" AND target IN ({', '.join(map(quote, unfold(entry['hosts']))) or 'NULL'})"
        parts.append(
            f"SELECT target, device, port, {quote(entry['role'])} AS role, {number} AS place "
            f"FROM {ports} WHERE ({named or 'false'}){hosts}"
        )
    if not parts:
        kinds = intent_tables()["declared_role"].column_types()
        nothing = ", ".join(f"NULL::{kind} AS {identifier(n)}" for n, kind in kinds.items())
        return f"SELECT {nothing} WHERE false"
    return (
        "SELECT target, device, port, arg_max(role, place) AS role "
        f"FROM ({' UNION ALL '.join(parts)}) GROUP BY target, device, port"
    )


def make_site_ports(site: Site | None) -> str:
    """The statements that make `site_port` where the tables of a snapshot are at hand."""
    return f"CREATE OR REPLACE TEMP TABLE declared_role AS {declared_roles(site)}; {site_port()}"
