"""Table `host_class`: which machines are of one model, by what stays when a part fails.

In this order: the model that the firmware names (DMI) with the GPU of most of the host's cards;
else the nearest layout of PCIe slots, by how much of what is seen is also there. Never by equality:
a dead card takes its slot along, and firmware hides root ports without a link.
"""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from railwright.hardware.machine_names import given, is_cloud, model
from railwright.hardware.servers import board_gpus
from railwright.model.nearest_layout import Layout, Votes, nearest, split_by_name
from railwright.store.duck import read_sql

# What the rows rest on: told to whoever asks why something is unknown.
READS = ("card", "dmi", "probe_result", "target")
Slots = frozenset[str]


def queries() -> list[str]:
    """What `prepare` has found."""
    return ["SELECT * FROM found_class"]


def _models() -> str:
    vendor = f"coalesce(nullif({given('sys_vendor')}, ''), {given('board_vendor')})"
    return read_sql(__file__, "class_model.sql").format(
        vendor=vendor,
        product=given("product_name"),
        board=given("board_name"),
        model=model("vendor", "product", "board"),
        is_cloud=is_cloud("model"),
    )


class Seen(NamedTuple):
    """Hosts with the same slots in use, and what else is known of them."""

    key: str
    gpu: str
    slots: Slots
    hosts: list[str]


def _seen(database: duckdb.DuckDBPyConnection) -> list[Seen]:
    """Hosts that nothing but their slots can place: without a model, or without a GPU left."""
    found = database.execute(read_sql(__file__, "class_unplaced.sql")).fetchall()
    seen = (Seen(key, gpu, frozenset(slots or ()), hosts) for key, gpu, slots, hosts in found)
    # The fullest first: what lacks something is then held to it.
    return sorted(seen, key=lambda one: (-len(one.slots), -len(one.hosts), one.hosts[0]))


Placed = tuple[str, str, str, str, str]  # target, key, gpu, how it was told, of which layout


def _place(database: duckdb.DuckDBPyConnection) -> Iterator[Placed]:
    usual = [
        Layout(key, gpu, frozenset(slots), members)
        for key, gpu, members, slots in database.execute(
            read_sql(__file__, "class_slots.sql")
        ).fetchall()
    ]
    unnamed: list[Layout] = []
    for one in _seen(database):
        if one.key:
            # Nothing but GPUs is gone, or there never were any: the same model says both.
            same = [u for u in usual if u.key == one.key and one.slots and one.slots <= u.slots]
            for host in one.hosts if same else ():
                yield host, one.key, same[0].gpu, "dmi", ""
            continue
        like = nearest(one.slots, one.gpu, [*usual, *unnamed])
        if like is None:
            like = Layout("", one.gpu, one.slots, len(one.hosts), one.hosts[0])
            unnamed.append(like)
        for host in one.hosts:
            yield host, like.key, like.gpu, "layout", like.first


def prepare(database: duckdb.DuckDBPyConnection) -> None:
    """Make the table that the query above reads."""
    database.execute(read_sql(__file__, "class_host.sql").format(models=_models()))
    database.execute(
        "CREATE OR REPLACE TEMP TABLE class_placed "
        "(target VARCHAR, key VARCHAR, gpu VARCHAR, source VARCHAR, first VARCHAR)"
    )
    rows = list(_place(database))
    for at in range(0, len(rows), 1000):
        some = rows[at : at + 1000]
        marks = ", ".join(["(?, ?, ?, ?, ?)"] * len(some))
        values = [value for row in some for value in row]
        database.execute(f"INSERT INTO class_placed VALUES {marks}", values)
    found = read_sql(__file__, "class_found.sql").format(board_gpus=board_gpus("key"))
    database.execute(found)
    apart = read_sql(__file__, "class_apart.sql")
    for name, patterns in split_by_name(_disputed(database)).items():
        database.execute(apart, {"class": name, "patterns": patterns})


def _disputed(database: duckdb.DuckDBPyConnection) -> list[Votes]:
    """What some of a class have and not most, by how the operator names them."""
    found = database.execute(read_sql(__file__, "class_disputed.sql")).fetchall()
    return [Votes(*row) for row in found]
