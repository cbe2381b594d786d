"""--json: one object per verb, true to its published schema, with the status that the verb ends with."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner, Result

from lab.harness.by_hand import by_hand, target, with_derived
from lab.harness.small_fabric import fabric
from railwright.cli import program
from railwright.store.build import Building
from railwright.store.snapshot import snapshots

SCHEMAS = REPOSITORY / "docs/schemas"
PAGE = (REPOSITORY / "docs/json.md").read_text("utf-8")
ROW = re.compile(r"^\| .* \| `(?:--json|--format json|-o FILE)` \| (.*) \| (.*) \|$", re.MULTILINE)


def run(store: Path, *words: str) -> Result:
    environment = {"HOME": str(store), "RAILWRIGHT_STORE": str(store)}
    return CliRunner(env=environment).invoke(program(), list(words))


def published() -> dict[str, Path]:
    """format -> the file of its schema, as docs/json.md lists them."""
    found = {}
    for formats, link in ROW.findall(PAGE):
        file = re.search(r"\((schemas/.*)\)", link)
        for name in re.findall(r"`(.*?)`", formats) if file else ():
            found[name] = REPOSITORY / "docs" / file[1]
    return found


def told(store: Path, *words: str, status: int = 0) -> Any:
    done = run(store, *words, "--json")
    assert done.exit_code == status, done.output
    said = json.loads(done.stdout)
    assert said["exit_status"] == status
    assert said["format"] == f"railwright-{'-'.join(command(words))}-1"
    schema = json.loads(published()[said["format"]].read_text("utf-8"))
    jsonschema.validate(said, schema)
    return said


def command(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[:2] if words[0] in ("store", "intent") else words[:1]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with_derived(tmp_path, fabric())
    return tmp_path


def test_every_schema_is_listed_and_is_a_schema() -> None:
    assert {path.name for path in published().values()} == {p.name for p in SCHEMAS.glob("*.json")}
    for path in SCHEMAS.glob("*.json"):
        schema = json.loads(path.read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"railwright-{path.stem}"


def test_facts_are_groups_with_counts_and_what_is_unknown(store: Path) -> None:
    said = told(store, "facts")
    assert said["snapshot"] == "2026-11-14T2215Z"
    assert said["hosts"] == {"asked": 2, "reached": 2, "incomplete": 0, "not_reached": 0, "out_of_service": 0}  # fmt: skip
    assert said["switches"]["asked"] == 4
    assert {(one["system"], *one["switches"]) for one in said["switch_groups"]} == {
        ("sonic", "leaf1"), ("cumulus", "leaf2"), ("eos", "spine1"), ("onyx", "spine2")
    }  # fmt: skip
    sections = {one["title"]: one for one in said["sections"]}
    qos = sections["QoS of RoCE ports"]
    assert qos["columns"] == ["trust", "PFC on", "DSCP 26 to", "DSCP 48 to"]
    assert qos["hosts_known"] == 2
    assert qos["groups"] == [
        {"values": ["dscp", "3", "3", "6"], "count": 4, "hosts": ["gpu1", "gpu2"]}
    ]
    assert qos["unknown"] == []
    text = run(store, "facts").stdout
    assert all(title in text for title in sections)


def test_facts_say_why_something_is_unknown(tmp_path: Path) -> None:
    rows = fabric()
    rows["target"][0].update(status="silent", words="ssh: no route to host\r\n")
    rows["probe_result"] = [
        {**one, "status": "denied", "reason": "needs root"}
        if (one["target"], one["probe"]) == ("gpu2", "mlnx_qos")
        else one
        for one in rows["probe_result"]
        if one["target"] != "gpu1"
    ]
    for table, found in rows.items():
        if table not in ("target", "probe_result"):
            rows[table] = [one for one in found if one.get("target") != "gpu1"]
    rows["dcb"] = []
    with_derived(tmp_path, {table: found for table, found in rows.items() if found})
    said = told(tmp_path, "facts", status=3)
    missed = [one for one in said["not_answered"] if one["answer"] != "not asked"]
    assert missed == [
        {"answer": "silent", "reason": "ssh: no route to host", "different_reasons": 1, "targets": ["gpu1"]},
        {"answer": "denied", "reason": "mlnx_qos: needs root", "different_reasons": 1, "targets": ["gpu2"]},
    ]  # fmt: skip
    [ports] = [one for one in said["sections"] if one["title"] == "RDMA ports"]
    assert ports["unknown"] == [{"reason": "not reached", "hosts": ["gpu1"]}]
    assert [group["hosts"] for group in ports["groups"]] == [["gpu2"]]


def test_collect_prints_one_object_at_its_end(tmp_path: Path) -> None:
    words = ("--via", "local", "--state-from", "none", "--probe", "cmdline")
    said = told(tmp_path, "collect", *words)
    assert said["targets"] == [
        {"target": "localhost", "kind": "host", "status": "reached", "out_of_service": "", "words": ""}
    ]  # fmt: skip
    assert Path(said["path"]) == tmp_path / said["snapshot"]
    assert said["counts"] == {"targets": 1, "reached": 1, "not_reached": 0, "not_reached_out_of_service": 0}  # fmt: skip
    assert said["is_whole"] is True
    assert run(tmp_path, "collect", *words).exit_code == 0
    both = told(tmp_path, "merge", *(path.name for path in snapshots(tmp_path)))
    assert both["counts"]["reached"] == 1
    assert run(tmp_path, "merge", said["snapshot"]).exit_code == 0


def test_a_collect_that_reaches_no_machine_says_how_to_find_out(tmp_path: Path) -> None:
    words = ("-w", "gpu[1-2]", "-o", "HostName=127.0.0.1", "-o", "Port=9", "--state-from", "none")
    said = told(tmp_path, "collect", *words, status=3)
    assert [one["status"] for one in said["targets"]] == ["refused", "refused"]
    assert said["is_whole"] is False
    done = run(tmp_path, "collect", *words)
    assert done.exit_code == 3
    assert "Next: railwright collect --try gpu1\n" in done.stderr
    assert "railwright check" not in done.output


def test_collect_takes_json_only_for_a_run(tmp_path: Path) -> None:
    for word in ("--explain", "--sudoers"):
        done = CliRunner().invoke(program(), ["collect", word, "--json"])
        assert "--json cannot be combined" in str(done.exception)


def test_import_of_half_an_answer(tmp_path: Path) -> None:
    (tmp_path / "gpu7.rw").write_bytes(b"")
    saved = tmp_path / "cmdline.txt"
    saved.write_text("quiet\n")
    words = ("import", str(saved), "--kind", "cmdline", "--target", "gpu7")
    said = told(tmp_path, *words, status=run(tmp_path, *words).exit_code)
    assert [one["target"] for one in said["targets"]] == ["gpu7"]


def test_what_was_cut_off_and_is_finished(tmp_path: Path) -> None:
    statuses = set()
    for form in ([], ["--json"]):
        building = Building(tmp_path, {"started": 1.0, "via": "ssh"}, {"gpu1": ""})
        building.add_target({**target("gpu1"), "started": 1.0, "duration_s": 1.0, "attempts": 1})
        building.close()
        building.lock.release()
        if form:
            listed = told(tmp_path, "store", "list")
            assert [one["held_by"] for one in listed["unfinished"]] == [""]
            assert told(tmp_path, "store", "finish", status=3)["counts"]["targets"] == 1
        else:
            statuses.add(run(tmp_path, "store", "finish").exit_code)
    assert statuses == {3}


def test_the_store_and_the_rest(store: Path) -> None:
    by_hand(store, fabric(), "2026-11-15T2215Z")
    (store / "2026-11-16T0000Z").mkdir()
    listed = told(store, "store", "list")["snapshots"]
    assert [one["name"] for one in listed] == ["2026-11-14T2215Z", "2026-11-15T2215Z", "2026-11-16T0000Z"]  # fmt: skip
    assert listed[0]["has_digests"] is False
    assert listed[2]["damaged"]
    found = told(store, "store", "verify", status=1)["snapshots"]
    assert [one["state"] for one in found] == ["no digests", "no digests", "damaged"]
    (store / "2026-11-16T0000Z").rmdir()
    assert told(store, "store", "upgrade", "2026-11-14")["rebuilt"] == 0
    pruned = told(store, "store", "prune", "--keep", "1")["snapshots"]
    assert pruned == [{"name": "2026-11-14T2215Z", "outcome": "would delete", "reason": ""}]
    told(store, "store", "prune", "--keep", "1", "--yes")
    assert [path.name for path in snapshots(store)] == ["2026-11-15T2215Z"]


def test_rules_profiles_a_proposal_and_answers(store: Path) -> None:
    rules = {one["rule"]: one for one in told(store, "rules")["rules"]}
    assert rules["pcie-link-narrow"]["aliases"] == ["PCI-02"]
    assert rules["pcie-link-narrow"]["severities"] == ["high"]
    repair = ("action", "setting", "disturbs", "disturbs_remark", "way_back")
    told_of = [rules["firmware-differs"][key] for key in repair]
    assert told_of == ["ask", "nic.firmware", "NIC reset", "burning disturbs nothing", "none"]
    profiles = {one["profile"]: one for one in told(store, "intent", "profiles")["profiles"]}
    assert profiles["roce-lossless"]["fabric"]["lossless_priorities"] == [3]
    assert told(store, "intent", "init")["site"]["fabric"]["mtu"] == 9000
    answers = told(store, "evidence", "gpu1")["answers"]
    assert {"probe": "lldpctl", "instance": "", "status": "ok", "bytes": None, "dropped_lines": None, "reason": ""} in answers  # fmt: skip
    done = run(store, "evidence", "gpu1", "lldpctl", "--json")
    assert "Leave out --json for the bytes of lldpctl" in str(getattr(done.exception, "do", ""))
