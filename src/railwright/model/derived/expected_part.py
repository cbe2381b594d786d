"""Table `expected_part`: what most members of a class have in a slot.

At least four members, and so that it stays true even if all that were not read have something else.
What fewer have is listed too, with its votes: nobody may leave a class by what it lacks.
"""

from railwright.model.nearest_layout import FEWEST

COUNTS = ("functions", "rdma_devices", "netdevs", "links")


def _most(column: str, enough: str) -> str:
    """The value that more than half have; NULL where there is no such value."""
    counts = f"histogram({column})"
    top = f"list_max(map_values({counts}))"
    value = f"map_keys({counts})[list_position(map_values({counts}), {top})]"
    return f"CASE WHEN 2 * {top} > {enough} THEN {value} END"


def select(members: str) -> str:
    """The same for any relation of target and class: the classes of a site file, too."""
    counted = ", ".join(f"{_most(name, 'any_value(s.members)')} AS {name}" for name in COUNTS)
    return f"""
        WITH member AS (SELECT target, class FROM {members} WHERE class IS NOT NULL),
        size AS (
            SELECT class, count(*) AS members, min(target) AS first FROM member GROUP BY class
        ),
        found AS (
            SELECT m.class, c.* FROM member AS m
            INNER JOIN card AS c ON c.target = m.target AND c.kind IN ('nic', 'gpu')
        ),
        -- One that did not tell how its firmware names root bridges gets its peers' names.
        translation AS (
            SELECT class, slot_by_bus, min(slot) AS slot FROM found
            WHERE root_named_by = 'acpi'
                AND class IN (SELECT class FROM found WHERE root_named_by = 'bus')
            GROUP BY ALL
        ),
        part AS (
            SELECT f.* REPLACE (coalesce(t.slot, f.slot) AS slot) FROM found AS f
            LEFT JOIN translation AS t
                ON f.root_named_by = 'bus' AND t.class = f.class AND t.slot_by_bus = f.slot_by_bus
        ),
        read AS (SELECT class, count(DISTINCT target) AS hosts FROM found GROUP BY class)
        SELECT any_value(s.first) AS target, max(p.read_at) AS read_at, p.class, p.slot, p.kind,
            p.part, mode(p.slot_by_bus) AS slot_by_bus, max(p.switch_slot) AS switch_slot,
            mode(p.pci) AS pci, {counted}, mode(p.psid) AS psid,
            any_value(s.members) AS members, any_value(r.hosts) AS read, count(*) AS votes,
            any_value(s.members) >= {FEWEST} AND 2 * count(*) > any_value(s.members) AS is_expected
        FROM part AS p
        INNER JOIN size AS s ON s.class = p.class
        INNER JOIN read AS r ON r.class = p.class
        GROUP BY p.class, p.slot, p.kind, p.part
    """


def queries() -> list[str]:
    """Of the classes that machines tell by themselves."""
    return [select("host_class")]
