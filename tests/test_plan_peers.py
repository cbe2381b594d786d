"""`--from-peers`: a value that nobody names is that of like machines, if enough of them agree."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from railwright.plan import make
from railwright.plan.changes import NOT_READ
from railwright.store.duck import read_sql

SQL = read_sql(make.__file__, "peers.sql")
COLUMNS = (
    *("setting", "target", "subject", "state", "why", "now", "wanted"),
    *("netdev", "device", "pci", "switch_port"),
)


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        listed = ", ".join(f"{one} VARCHAR" for one in COLUMNS)
        more = "write INTEGER, is_clear BOOLEAN, by_peers BOOLEAN"
        made.execute(f"CREATE TABLE change_row ({listed}, {more})")
        made.execute(
            "CREATE TABLE port_scope "
            "(target VARCHAR, cohort VARCHAR, netdev VARCHAR, device VARCHAR, pci VARCHAR)"
        )
        made.execute("CREATE TABLE end_scope (target VARCHAR, port VARCHAR, cohort VARCHAR)")
        yield made


def decided(database: duckdb.DuckDBPyConnection, values: list[str | None], **more: Any) -> Any:
    """What comes of the first of these hosts; each has one port, and nobody names a value."""
    for number, value in enumerate(values):
        row = {
            "setting": "nic.trust",
            "target": f"h{number}",
            "subject": f"h{number}:ens1",
            "state": "undecided",
            "why": "",
            "now": value,
            "netdev": "ens1",
            "write": 0,
            "is_clear": True,
            "by_peers": False,
            **(more if number == 0 else {}),
        }
        row["setting"] = more.get("setting", row["setting"])
        names = ", ".join(f"${name} AS {name}" for name in row)
        database.execute(f"INSERT INTO change_row BY NAME SELECT {names}", row)
        database.execute(
            "INSERT INTO port_scope VALUES (?, 'rail', 'ens1', NULL, NULL)", [f"h{number}"]
        )
    made, filled = SQL.split(";", 1)
    database.execute(made)
    words = {"not_read": NOT_READ, "no_tool": "no tool", "not_clear": "not clear"}
    database.execute(filled, words)
    query = "SELECT state, wanted, by_peers, why FROM change_row WHERE target = 'h0'"
    return database.execute(query).fetchone()


@pytest.mark.parametrize(
    ("values", "more", "expected"),
    [
        (["pcp", *["dscp"] * 8], {}, ("change", "dscp", True, "")),
        (["dscp", *["dscp"] * 8], {}, ("leave", "dscp", True, "")),
        (["pcp", *["dscp"] * 7], {}, ("undecided", None, False, "")),  # seven are too few
        # Four in five of the others: 8 of 10, not 8 of 11.
        (["pcp", *["dscp"] * 8, "pcp", "pcp"], {}, ("change", "dscp", True, "")),
        (["pcp", *["dscp"] * 8, "pcp", "pcp", "pcp"], {}, ("undecided", None, False, "")),
        # Peers that were not read may have another value.
        (["pcp", *["dscp"] * 8, None, None], {}, ("change", "dscp", True, "")),
        (["pcp", *["dscp"] * 8, None, None, None], {}, ("undecided", None, False, "")),
        # Itself is no peer: 8 of 9 with it, 7 without.
        (["dscp", *["dscp"] * 7, "pcp"], {}, ("undecided", None, False, "")),
        ([None, *["dscp"] * 8], {}, ("refused", "dscp", True, NOT_READ)),
        (["pcp", *["dscp"] * 8], {"write": None}, ("refused", "dscp", True, "no tool")),
        (["pcp", *["dscp"] * 8], {"is_clear": False}, ("refused", "dscp", True, "not clear")),
        # What waits and which image: no values.
        (["a", *["b"] * 20], {"setting": "nic.reset"}, ("undecided", None, False, "")),
        (["a", *["b"] * 20], {"setting": "nic.firmware"}, ("undecided", None, False, "")),
        # What somebody named stays.
        (["pcp", *["dscp"] * 8], {"state": "change", "wanted": "x"}, ("change", "x", False, "")),
        (["pcp", *["dscp"] * 8], {"state": "refused", "why": "w"}, ("refused", None, False, "w")),
    ],
)
def test_what_peers_say(
    database: duckdb.DuckDBPyConnection,
    values: list[str | None],
    more: dict[str, Any],
    expected: tuple[Any, ...],
) -> None:
    assert decided(database, values, **more) == expected
