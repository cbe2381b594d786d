"""What a machine calls itself comes last: it cannot take over another one's cables."""

from typing import Any

import pytest

from lab.harness.small_fabric import Rows, change, database_of, fabric

QUERY = "SELECT target, port, peer, peer_port, told_by, trouble FROM adjacency ORDER BY ALL"


def adjacency(rows: Rows) -> list[tuple[Any, ...]]:
    with database_of(rows) as database:
        return database.execute(QUERY).fetchall()


SOUND = adjacency(fabric())


def test_a_sound_fabric_is_told_by_both_ends() -> None:
    assert {row[4] for row in SOUND} == {"both"}
    assert len(SOUND) == 16


@pytest.mark.parametrize(
    "name", ["leaf1", "LEAF1", "leaf1.example.net", "leaf2", "gpu2", "gpu2.example.net"]
)
def test_a_host_that_takes_another_s_name_moves_no_cable(name: str) -> None:
    assert adjacency(change(fabric(), "host", {"target": "gpu1"}, hostname=name)) == SOUND


def test_two_hosts_with_one_name_move_no_cable() -> None:
    rows = change(fabric(), "host", {"target": "gpu1"}, hostname="node7")
    assert adjacency(change(rows, "host", {"target": "gpu2"}, hostname="node7")) == SOUND


def test_a_switch_that_takes_another_s_name_moves_no_cable() -> None:
    rows = change(fabric(), "switch", {"target": "leaf2"}, hostname="leaf1")
    assert adjacency(rows) == SOUND


def renamed(rows: Rows, old: str, new: str) -> Rows:
    """The operator calls a machine otherwise than it calls itself."""
    return {
        table: [{**row, "target": new if row["target"] == old else row["target"]} for row in found]
        for table, found in rows.items()
    }


def test_a_name_of_its_own_still_counts_where_nobody_else_has_it() -> None:
    """Targets that are addresses: what machines call themselves is all there is."""
    rows = renamed(
        change(fabric(), "switch", {"target": "leaf2"}, hostname="leaf2"), "leaf2", "10.9.0.2"
    )
    expected = sorted(
        tuple("10.9.0.2" if cell == "leaf2" else cell for cell in row) for row in SOUND
    )
    assert sorted(adjacency(rows)) == expected


def test_two_ends_that_confirm_each_other_stand_before_a_name() -> None:
    """spine1 says it is called leaf2, which the operator calls nobody: leaf2's ports still find it."""
    rows = renamed(
        change(fabric(), "switch", {"target": "leaf2"}, hostname="leaf2"), "leaf2", "10.9.0.2"
    )
    rows = change(rows, "switch", {"target": "spine1"}, hostname="leaf2")
    found = {(row[0], row[1]): row[2] for row in adjacency(rows)}
    assert found["gpu1", "ens1"] == "leaf1"
    assert found["gpu1", "ens2"] != "spine1", "a name that two give themselves is nobody's"
