"""Table `digest`, over all tables that probes fill: drift of a million NICs is told in seconds."""

from railwright.facts.duck import identifier, quote
from railwright.facts.schema import NOT_A_PROBE, Table, tables


def compared(table: Table) -> list[str]:
    """The columns that count: not when it was read, and not what changes by itself."""
    return [c.name for c in table.columns if c.name not in ("target", "read_at") and not c.volatile]


def subject_of(table: Table, alias: str = "") -> str:
    """What a table's rows are about, as SQL."""
    return f"{alias}{identifier(table.key[1])}::VARCHAR" if len(table.key) > 1 else "''"


def digested() -> list[Table]:
    """The tables that a probe fills."""
    return [table for table in tables().values() if table.fed_by not in NOT_A_PROBE]


def _part(table: Table) -> str:
    # One string per row: DuckDB's hash of several arguments, joined by XOR, loses changes.
    # Behind each name stands whether there is a value, so that NULL is no text.
    cells = ", ".join(
        f"'{name}', coalesce('=' || {identifier(name)}::VARCHAR, '-')" for name in compared(table)
    )
    return (
        f"SELECT target, max(read_at) AS read_at, {quote(table.name)} AS fact_table, "
        f"coalesce({subject_of(table)}, '') AS subject, count(*) AS row_count, "
        f"(bit_xor(hash(concat_ws(chr(31), {cells}))) >> 1)::BIGINT AS digest "
        f"FROM {identifier(table.name)} GROUP BY ALL"
    )


def query() -> str:
    """The SELECT of the derived table."""
    return " UNION ALL ".join(f"({_part(table)})" for table in digested())
