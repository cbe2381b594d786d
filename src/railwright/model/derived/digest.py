"""Table `digest`, over all tables that probes fill: drift of a million NICs is told in seconds."""

from functools import reduce

from railwright.schema.table import NOT_A_PROBE, Table, tables
from railwright.store.duck import identifier, quote


def compared(table: Table) -> list[str]:
    """The columns that count: not when it was read, and not what changes by itself."""
    return [c.name for c in table.columns if c.name not in ("target", "read_at") and not c.volatile]


# What a NIC is called in a table's key. Everything else is compared machine by machine: a server
# has 500 PCI functions, and nearly all of them are not NICs.
_NICS = ("pci", "netdev", "device")
_WHOLE_BUS = ("pci_function", "pci_config", "lspci_function", "disagreement")


def subject_of(table: Table, alias: str = "") -> str:
    """What a digest is about, as SQL: a NIC, or '' for the machine."""
    if len(table.key) > 1 and table.key[1] in _NICS and table.name not in _WHOLE_BUS:
        return f"coalesce({alias}{identifier(table.key[1])}::VARCHAR, '')"
    return "''"


def instance_of(table: Table, alias: str = "") -> str:
    """Which answer of its probe a row came from, if that is asked more than once, as SQL."""
    if len(table.key) < 2:
        return "''"
    return f"coalesce({alias}{identifier(table.key[1])}::VARCHAR, '')"


def digested() -> list[Table]:
    """The tables that a probe fills."""
    return [table for table in tables().values() if table.fed_by not in NOT_A_PROBE]


def hash_of(columns: list[str]) -> str:
    """One number over the values of a row, as SQL.

    Each column is hashed with its own number, and a row once more as a whole: joined by XOR alone,
    values that change places would cancel (as in DuckDB's hash of several arguments).
    """
    cells = [
        f"hash(xor(hash({identifier(name)}), {number}::UBIGINT))"
        for number, name in enumerate(columns, 1)
    ]
    return f"hash({reduce(lambda joined, cell: f'xor({joined}, {cell})', cells)})"


def _part(table: Table) -> str:
    return (
        f"SELECT target, max(read_at) AS read_at, {quote(table.name)} AS fact_table, "
        f"{subject_of(table)} AS subject, count(*) AS row_count, "
        f"(bit_xor({hash_of(compared(table))}) >> 1)::BIGINT AS digest "
        f"FROM {identifier(table.name)} GROUP BY ALL"
    )


def by_table() -> dict[str, str]:
    """The SELECTs of the derived table, one after another: all at once would take a gigabyte."""
    return {table.name: _part(table) for table in digested()}
