"""Whether a value was read, or is none, or was not collected: as SQL over a fact table.

A copper cable has no temperature, and its column is NULL as that of a module nobody asked. A view
that draws or counts missing values asks here which of the two it is.
"""

from railwright.errors import RailwrightError
from railwright.schema.table import Column, one_table, table_names

READ, NONE, NOT_COLLECTED = "read", "none", "not collected"


def _column(table: str, name: str) -> Column:
    found = next((one for one in one_table(table).columns if one.name == name), None)
    if found is None:
        raise RailwrightError(f"table {table} has no column {name}")
    return found


def none_words(column: Column) -> str:
    """What "read, and there is none" looks like, for people."""
    told = [column.none] if column.none else []
    told += [f"NULL where {column.none_when}"] if column.none_when else []
    told += [f"NULL where its row of {name} has {one}" for name, one in column.none_in.items()]
    return "; ".join(told)


def may_be_none(table: str, column: str) -> bool:
    """Whether NULL in this column may mean that there is none."""
    if table not in table_names():  # what the operator wants: what he left out, he left out
        return False
    one = _column(table, column)
    return bool(one.none_when or one.none_in)


def is_none(table: str, column: str) -> str:
    """SQL: whether the value is NULL because there is none; `false` where NULL never means that.

    Its names are those of the table, so it stands in a query that reads this table alone.
    """
    one = _column(table, column)
    told = [f"({one.none_when})"] if one.none_when else []
    for other, condition in one.none_in.items():
        key = ", ".join(one_table(other).key)
        told.append(f"({key}) IN (SELECT ({key}) FROM {other} WHERE {condition})")  # noqa: S608 (our own files)
    return f'"{column}" IS NULL AND coalesce({" OR ".join(told)}, false)' if told else "false"


def value_state(table: str, column: str) -> str:
    """SQL: 'read', 'none' or 'not collected'; for a query that reads this table alone."""
    one = _column(table, column)
    cases = [f"WHEN \"{column}\" = {one.none_value} THEN '{NONE}'"] if one.none_value else []
    cases.append(f"WHEN \"{column}\" IS NOT NULL THEN '{READ}'")
    if may_be_none(table, column):
        cases.append(f"WHEN {is_none(table, column)} THEN '{NONE}'")
    return f"CASE {' '.join(cases)} ELSE '{NOT_COLLECTED}' END"


def with_states(table: str, *columns: str) -> str:
    """SQL: the rows of a table with `<column>_state` beside each of these columns."""
    states = "".join(f', {value_state(table, one)} AS "{one}_state"' for one in columns)
    return f"SELECT *{states} FROM {table}"  # noqa: S608 (our own files)
