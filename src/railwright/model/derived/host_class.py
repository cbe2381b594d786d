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

# What the rows rest on: told to whoever asks why something is unknown.
READS = ("card", "dmi", "probe_result", "target")
Slots = frozenset[str]


def queries() -> list[str]:
    """What `prepare` has found."""
    return ["SELECT * FROM found_class"]


def _key_columns() -> str:
    vendor = f"coalesce(nullif({given('sys_vendor')}, ''), {given('board_vendor')})"
    columns = (vendor, given("product_name"), given("board_name"))
    names = ("vendor", "product", "board")
    picked = ", ".join(f"{sql} AS {name}" for sql, name in zip(columns, names, strict=True))
    return f"""
        SELECT target, vendor, CASE WHEN {is_cloud("model")} THEN '' ELSE model END AS model,
            CASE WHEN {is_cloud("model")} THEN 'its DMI names a virtual machine'
                 WHEN model = '' THEN 'its DMI names no model' ELSE '' END AS lack
        FROM (SELECT *, {model("vendor", "product", "board")} AS model
              FROM (SELECT target, {picked} FROM dmi))
    """


def _hosts(database: duckdb.DuckDBPyConnection) -> None:
    """class_host: every host with its model, its GPU and whether its cards are known."""
    database.execute(f"""
        CREATE OR REPLACE TEMP TABLE class_host AS
        WITH answered AS (
            SELECT target, max(read_at) AS read_at,
                bool_or(probe = 'pci' AND status = 'ok') AS pci,
                bool_or(probe = 'dmi' AND status = 'absent') AS no_dmi
            FROM probe_result WHERE probe IN ('pci', 'dmi') GROUP BY target
        ),
        gpus AS (
            SELECT target, arg_max(part, (n, part)) AS gpu
            FROM (SELECT target, part, count(*) AS n FROM card WHERE kind = 'gpu' GROUP BY ALL)
            GROUP BY target
        )
        SELECT t.target, a.read_at,
            CASE WHEN d.model = '' OR d.model IS NULL THEN ''
                 WHEN starts_with(lower(d.model), lower(d.vendor)) THEN d.model
                 ELSE trim(d.vendor || ' ' || d.model) END AS name,
            lower(regexp_replace(name, '[ _-]+', '', 'g')) AS key,
            CASE WHEN a.pci THEN coalesce(g.gpu, '') END AS gpu,
            CASE WHEN d.target IS NULL AND a.no_dmi THEN 'it has no DMI'
                 WHEN d.target IS NULL OR d.model IS NULL THEN 'its DMI was not read'
                 ELSE d.lack END AS lack,
            regexp_replace(t.target, '[0-9]+', '#', 'g') AS pattern
        FROM target AS t
        LEFT JOIN answered AS a ON a.target = t.target
        LEFT JOIN ({_key_columns()}) AS d ON d.target = t.target
        LEFT JOIN gpus AS g ON g.target = t.target
        WHERE t.kind = 'host'
    """)


# Slots that most members of a class have, by the number of the root bus: a host that did not tell
# how its firmware names root bridges is compared by that.
_USUAL = """
    SELECT c.key, c.gpu, c.members, list(c.slot) AS slots FROM (
        SELECT h.key, h.gpu, s.slot_by_bus AS slot, any_value(n.members) AS members
        FROM class_host AS h
        INNER JOIN (SELECT key, gpu, count(*) AS members FROM class_host
                    WHERE key <> '' AND gpu <> '' GROUP BY ALL) AS n USING (key, gpu)
        INNER JOIN card AS s ON s.target = h.target AND s.kind IN ('nic', 'gpu')
        GROUP BY h.key, h.gpu, s.slot_by_bus HAVING 2 * count(*) > any_value(n.members)
    ) AS c GROUP BY ALL ORDER BY c.members DESC, c.key, c.gpu
"""


class Seen(NamedTuple):
    """Hosts with the same slots in use, and what else is known of them."""

    key: str
    gpu: str
    slots: Slots
    hosts: list[str]


def _seen(database: duckdb.DuckDBPyConnection) -> list[Seen]:
    """Hosts that nothing but their slots can place: without a model, or without a GPU left."""
    found = database.execute("""
        SELECT key, gpu, slots, list(target ORDER BY target) FROM (
            SELECT h.target, h.key, h.gpu,
                list_sort(list(s.slot_by_bus) FILTER (s.slot_by_bus IS NOT NULL)) AS slots
            FROM class_host AS h
            LEFT JOIN card AS s ON s.target = h.target AND s.kind IN ('nic', 'gpu')
            WHERE (h.key = '' AND h.gpu IS NOT NULL) OR (h.key <> '' AND h.gpu = '')
            GROUP BY ALL)
        GROUP BY ALL
    """).fetchall()
    seen = (Seen(key, gpu, frozenset(slots or ()), hosts) for key, gpu, slots, hosts in found)
    # The fullest first: what lacks something is then held to it.
    return sorted(seen, key=lambda one: (-len(one.slots), -len(one.hosts), one.hosts[0]))


Placed = tuple[str, str, str, str, str]  # target, key, gpu, how it was told, of which layout


def _place(database: duckdb.DuckDBPyConnection) -> Iterator[Placed]:
    usual = [
        Layout(key, gpu, frozenset(slots), members)
        for key, gpu, members, slots in database.execute(_USUAL).fetchall()
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
    _hosts(database)
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
    database.execute(_FOUND.replace("{board_gpus}", board_gpus("key")))
    for name, patterns in split_by_name(_disputed(database)).items():
        database.execute(
            "UPDATE found_class SET class = class || ', named ' || pattern, "
            "reason = reason || '; named ' || pattern, members = m.n "
            "FROM (SELECT class AS c, pattern AS p, count(*)::INTEGER AS n FROM found_class "
            "GROUP BY ALL) AS m "
            "WHERE m.c = class AND m.p = pattern AND class = $1 AND list_contains($2, pattern)",
            [name, patterns],
        )


def _disputed(database: duckdb.DuckDBPyConnection) -> list[Votes]:
    """What some of a class have and not most, by how the operator names them."""
    found = database.execute("""
        WITH part AS (
            SELECT h.class, h.pattern, h.members, c.slot || ' ' || c.part AS part
            FROM found_class AS h
            INNER JOIN card AS c ON c.target = h.target AND c.kind IN ('nic', 'gpu')
            WHERE h.class IN (SELECT class FROM found_class GROUP BY class
                              HAVING count(DISTINCT pattern) > 1)
        ),
        disputed AS (
            SELECT class, part FROM part GROUP BY ALL
            HAVING 2 * count(*) <= any_value(members)
        )
        SELECT n.class, n.pattern, n.hosts, d.part, count(p.part)
        FROM (SELECT class, pattern, count(*) AS hosts FROM found_class GROUP BY ALL) AS n
        INNER JOIN disputed AS d ON d.class = n.class
        LEFT JOIN part AS p
            ON p.class = n.class AND p.pattern = n.pattern AND p.part = d.part
        GROUP BY ALL
    """).fetchall()
    return [Votes(*row) for row in found]


# A host whose cards were not read is of the largest class of its model.
_FOUND = """
    CREATE OR REPLACE TEMP TABLE found_class AS
    WITH largest AS (
        SELECT key, arg_max(gpu, (members, gpu)) AS gpu
        FROM (SELECT key, gpu, count(*) AS members FROM class_host
              WHERE key <> '' AND gpu IS NOT NULL GROUP BY ALL)
        GROUP BY key
    ),
    told AS (
        SELECT h.target, h.read_at, h.lack, h.name AS own_name,
            coalesce(p.key, h.key) AS key,
            coalesce(p.gpu, h.gpu, l.gpu) AS gpu,
            coalesce(p.source, CASE WHEN h.key <> '' THEN 'dmi' END) AS source,
            coalesce(p.first, '') AS first,
            h.pattern
        FROM class_host AS h
        LEFT JOIN class_placed AS p ON p.target = h.target
        LEFT JOIN largest AS l ON l.key = h.key
    ),
    named AS (
        SELECT *,
            CASE WHEN key <> '' THEN min(nullif(own_name, '')) OVER (PARTITION BY key) END AS model
        FROM told
    )
    SELECT target, read_at,
        CASE WHEN source IS NULL OR gpu IS NULL THEN NULL
             WHEN key <> '' THEN model || ', ' || gpu_words
             ELSE 'layout of ' || first || ', ' || gpu_words END AS class,
        source,
        CASE source
            WHEN 'dmi' THEN 'DMI: ' || model
            WHEN 'layout' THEN lack || '; its PCIe slots are those of '
                || CASE WHEN key <> '' THEN model ELSE first END
            ELSE lack || ', and its PCI functions were not read'
        END AS reason,
        coalesce(model, '') AS model,
        gpu,
        pattern,
        count(*) OVER (PARTITION BY key, gpu, first) AS members,
        {board_gpus} AS board_gpus
    FROM (SELECT *, CASE gpu WHEN '' THEN 'no GPU' ELSE gpu END AS gpu_words FROM named)
"""
