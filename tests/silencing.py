"""Cases of rules in which one machine did not answer."""

from typing import Any

from railwright.check.cases import Case, Rows
from railwright.schema.table import tables


def _own(rows: Rows, name: str) -> Rows:
    """What was read of a machine now."""
    return {
        table: [row for row in content if row.get("target") == name]
        for table, content in rows.items()
        if table in tables() and table != "target"
    }


def silenced(case: Case, name: str) -> Rows:
    """The rows without what was read of a machine; what was read earlier is still there."""
    own = _own(case.rows, name)
    left = {
        table: [row for row in content if row not in own.get(table, ())]
        for table, content in case.rows.items()
    }
    left["target"] = [
        {**row, "status": "silent"} if row["target"] == name else row for row in case.rows["target"]
    ]
    return left


def unlike(case: Case) -> list[str]:
    """The machines of a case; of several that have the same rows, one."""
    found: dict[str, str] = {}
    for row in case.rows["target"]:
        name = str(row["target"])
        rows = {**_own(case.rows, name), "target": [row]}
        found.setdefault(repr(rows).replace(repr(name), "~"), name)
    return list(found.values()) if len(case.rows["target"]) > 1 else []


def partners(case: Case, subjects: set[str]) -> set[str]:
    """The other ends of links, as what was read at any end has them."""

    def ends(row: dict[str, Any]) -> tuple[str, str]:
        return f"{row['target']}:{row['port']}", f"{row.get('peer')}:{row.get('peer_port')}"

    links = [ends(row) for row in case.rows.get("link_end", ())]
    return {b for a, b in links if a in subjects} | {a for a, b in links if b in subjects}
