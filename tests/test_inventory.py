"""A part is lost: found through the command line, whatever there is to hold the host to."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_host_class import dmi, fleet, whole
from typer.testing import CliRunner

from lab.fleet import hgx_h100
from lab.harness.by_hand import answers, with_derived
from lab.harness.fleets import Reading, evidence_of, snapshot_of
from railwright.cli import program

LOST = "0000:28:00.0"
# An entry of an answer that lists files: kind, size, zeros that were left out, path.
ENTRY = re.compile(rb"([FCLE]) ([0-9]+)(\+[0-9]+)? ([^\n]*)\n")
Rows = dict[str, list[dict[str, Any]]]


def run(store: Path, *line: str) -> Any:
    own = {"HOME": str(store), "RAILWRIGHT_SITE": None, "XDG_CONFIG_HOME": None}
    own["XDG_CACHE_HOME"] = str(store.parent / "cache")
    return CliRunner(env=own).invoke(program(), [*line, "--store", str(store)])


def inventory(store: Path, *line: str) -> tuple[int, dict[str, tuple[str, str]], dict[str, str]]:
    """Exit status, findings of part-missing (host -> severity, expected), and what is unknown and why."""
    done = run(store, "check", "--select", "part-missing", "--format", "json", *line)
    told = json.loads(done.stdout)
    found = {one["subject"]: (one["severity"], one["expected"]) for one in told["findings"]}
    return done.exit_code, found, {one["subject"]: one["why"] for one in told["inconclusive"]}


def hosts(number: int, lost: tuple[int, ...] = ()) -> Rows:
    """Like hosts of two NICs and two GPUs; some have lost a NIC."""
    cards = {
        f"n{n}": [c for c in whole(f"n{n}") if n not in lost or c["pci"] != LOST]
        for n in range(number)
    }
    rows = fleet(**cards)
    rows["dmi"] = dmi(list(cards), "ACME", "Box")
    for name in cards:
        rows["probe_result"] += answers(name, "infiniband", "netdev", "rdma_system")
    return rows


def proposed(store: Path) -> Path:
    text = run(store, "intent", "init").stdout
    file = store.parent / f"{store.name}.toml"
    file.write_text(text[: text.index("Next: ")] if "Next: " in text else text)
    return file


def test_one_of_four_has_lost_a_nic(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with_derived(store, hosts(4, lost=(2,)))
    expected = "the card that 3 of 4 hosts of its class have"
    assert inventory(store) == (1, {"n2": ("high", expected)}, {})
    # The site file that is proposed from the broken fleet finds it too, and from a whole one.
    assert inventory(store, "--site", str(proposed(store))) == (1, {"n2": ("high", "the card in the site file")}, {})  # fmt: skip


def test_two_hosts_have_no_majority(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with_derived(store, hosts(2))
    why = "no reference for its inventory"
    assert inventory(store) == (3, {}, {"n0": why, "n1": why})
    site = proposed(store)
    assert "unconfirmed = true  # it rests on fewer than 4 hosts" in site.read_text()
    why = "the class is an unconfirmed proposal"
    assert inventory(store, "--site", str(site)) == (3, {}, {"n0": why, "n1": why})
    lines = [line for line in site.read_text().splitlines() if "unconfirmed" not in line]
    site.write_text("\n".join(lines))
    assert inventory(store, "--site", str(site)) == (0, {}, {})


def test_a_build_that_lacks_something_is_no_variant(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with_derived(store, hosts(8, lost=(0, 1, 2, 3)))
    expected = "the card that 4 of 8 hosts of its class have"
    assert inventory(store)[:2] == (1, {f"n{n}": ("medium", expected) for n in range(4)})
    # Until the site declares two classes.
    site = store.parent / "two.toml"
    site.write_text(
        '[[class]]\nname = "small"\nhosts = "n[0-3]"\n[[class]]\nname = "full"\nhosts = "n[4-7]"\n'
    )
    assert inventory(store, "--site", str(site)) == (0, {}, {})


def test_a_class_by_kind_is_still_read(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with_derived(store, hosts(4))
    site = store.parent / "old.toml"
    site.write_text('[[class]]\nname = "old"\nkind = "2x 10de:2330, no RDMA card"\ngpus = 2\n')
    assert inventory(store, "--site", str(site)) == (0, {}, {})


def test_a_proposed_class_keeps_a_host_that_lost_a_gpu(tmp_path: Path) -> None:
    store = tmp_path / "store"
    rows = hosts(4)
    gone = {"target": "n2", "pci": "0000:29:00.0"}
    rows["pci_function"] = [r for r in rows["pci_function"] if {**r, **gone} != r]
    with_derived(store, rows)
    site = proposed(store)

    def found() -> list[tuple[str, str, str]]:
        told = run(store, "check", "--select", "intent-gpus", "--format", "json", "--site", str(site))  # fmt: skip
        return [(f["subject"], f["observed"], f["expected"]) for f in json.loads(told.stdout)["findings"]]  # fmt: skip

    assert found() == [("n2", "1", "2")]
    # A class by kind holds for those alone that have all of it.
    site.write_text('[[class]]\nname = "old"\nkind = "2x 10de:2330, no RDMA card"\ngpus = 2\n')
    assert found() == []


def test_hosts_of_no_class_are_named(tmp_path: Path) -> None:
    store = tmp_path / "store"
    rows = hosts(4)
    rows["target"] += [{"target": "silent", "kind": "host", "status": "timeout", "out_of_service": ""}]  # fmt: skip
    with_derived(store, rows)
    text = proposed(store).read_text()
    assert "[[class]]  # nothing tells what these are: silent\n" in text
    assert text.count('hosts = "silent"') == 1


def test_a_snapshot_of_which_few_tables_have_changed_is_judged(tmp_path: Path) -> None:
    # Tables that are as they were are links to the snapshot: rules must be able to follow them.
    store = tmp_path / "store"
    made = with_derived(store, hosts(4, lost=(2,)))
    said = json.loads((made.path / "run.json").read_text())
    said["revisions"]["lldp_neighbor"] = "another"
    (made.path / "run.json").write_text(json.dumps(said))
    expected = "the card that 3 of 4 hosts of its class have"
    assert inventory(store) == (1, {"n2": ("high", expected)}, {})


# ---- what was seen before


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    (found,) = evidence_of(tmp_path_factory.mktemp("hosts"), [hgx_h100(1)]).values()
    return found


def without_function(reading: Reading, pci: str) -> Reading:
    """The same host, whose answer about PCI does not speak of a function."""
    changed = []
    for answer in reading.answers:
        if answer.probe == "pci":
            kept, at, data = b"", 0, answer.stdout
            while at < len(data):
                head = ENTRY.match(data, at)
                assert head
                end = head.end() + int(head[2]) + 1
                kept += b"" if pci.encode() in head[4] else data[at:end]
                at = end
            answer = replace(answer, stdout=kept, packed=b"")  # noqa: PLW2901
        changed.append(answer)
    return Reading(reading.host, tuple(changed))


@pytest.mark.root
def test_a_part_once_seen_is_expected(tmp_path: Path, reading: Reading) -> None:
    store = tmp_path / "store"
    first = snapshot_of(store, {"n1": reading})
    assert inventory(store) == (3, {}, {"n1": "no reference for its inventory"})
    lost = without_function(reading, "0000:5b:00.0")
    snapshot_of(store, {"n1": lost})
    found = {"n1": ("high", f"the card seen in snapshot {first.name}")}
    assert inventory(store) == (1, found, {})
    # It stays expected, and the snapshot alone, in another store, says the same.
    last = snapshot_of(store, {"n1": lost})
    assert inventory(store) == (1, found, {})
    other = tmp_path / "other"
    other.mkdir()
    last.path.rename(other / last.name)
    assert inventory(other) == (1, found, {})
