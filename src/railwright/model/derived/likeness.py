"""Table `likeness`: in which tables two machines say the same, serials and addresses aside.

A fleet is many machines of few kinds. Whoever judges one machine by itself need judge only one of
those that are alike in all the tables it looks at.
"""

from railwright.model.derived.digest import compared, digested, hash_of
from railwright.schema.table import Table, tables
from railwright.store.duck import identifier, quote

# Not about what a machine is, or made of the others.
_LEFT_OUT = ("digest", "likeness", "disagreement")


def alike(table: Table) -> list[str]:
    """The columns in which machines of one kind are the same."""
    own = {column.name for column in table.columns if column.identity}
    return [name for name in compared(table) if name not in own]


def likened() -> list[Table]:
    """The tables that machines are compared by: those that probes fill, and those made of them."""
    derived = [t for t in tables().values() if t.fed_by == "derived" and t.name not in _LEFT_OUT]
    return [*digested(), *derived, tables()["host"], tables()["probe_result"]]


def _part(table: Table) -> str:
    return (
        f"SELECT target, max(read_at) AS read_at, {quote(table.name)} AS fact_table, "
        f"(xor(bit_xor({hash_of(alike(table))}), hash(count(*))) >> 1)::BIGINT AS kind "
        f"FROM {identifier(table.name)} GROUP BY target"
    )


def by_table() -> dict[str, str]:
    """The SELECTs of the derived table; what the digest has counted already is not read again."""
    known = {table.name for table in digested() if alike(table) == compared(table)}
    listed = ", ".join(quote(name) for name in sorted(known))
    from_digest = (
        "SELECT target, max(read_at) AS read_at, fact_table, "
        f"(bit_xor({hash_of(['subject', 'row_count', 'digest'])}) >> 1)::BIGINT AS kind "
        f"FROM digest WHERE fact_table IN ({listed}) GROUP BY target, fact_table"
    )
    others = {table.name: _part(table) for table in likened() if table.name not in known}
    return {"digest": from_digest, **others}
