"""`railwright explain`: subjects as people type them, the fact that decided, its evidence, and the SELECT to run."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner, Result

from lab.harness.by_hand import answers, with_derived
from lab.harness.small_fabric import HOSTS, Rows, change, fabric
from railwright.check.explain import explain, show_intent
from railwright.check.findings import Findings
from railwright.check.rule import shipped
from railwright.check.run import checked
from railwright.check.statement import made_for, statement
from railwright.check.subject_names import judged, machine_named, subjects_named
from railwright.cli import program
from railwright.errors import RailwrightError, UsageError
from railwright.intent.site import load_site
from railwright.store.lookup import find
from railwright.store.question import ask, closed_database

# A bridge between the first NIC of gpu1 and the root port that it shares with its GPU.
BRIDGE, NIC, ROOT = "0000:10:02.0", "0000:10:10.0", "0000:10:01.0"
NO_ACS = {"acs": "absent"}
REDIRECTS = {"acs": "present", "acs_request_redirect": True, "acs_completion_redirect": False}
SITE = 'profile = "roce-lossless"\n'


def with_faults() -> Rows:
    """gpu1: ACS on above a NIC; gpu2: both NICs narrow; leaf1: PFC off and a small MTU."""
    rows = fabric()
    like = next(
        row for row in rows["pci_function"] if row["pci"] == ROOT and row["target"] == "gpu1"
    )
    rows["pci_function"].append({**like, "pci": BRIDGE, "parent": ROOT})
    change(rows, "pci_function", {"target": "gpu1", "pci": NIC}, parent=BRIDGE)
    for row in rows["pci_config"]:
        row.update(NO_ACS)
    rows["pci_config"].append({"target": "gpu1", "pci": BRIDGE, "max_payload": 256, **REDIRECTS})
    rows["pci_config"].append(
        {"target": "gpu1", "pci": "0000:10:11.0", "max_payload": 256, **NO_ACS}
    )
    for number in (0, 1):
        change(
            rows, "pci_function", {"target": "gpu2", "pci": f"0000:1{number}:10.0"}, link_width=8
        )
    change(rows, "cpu", {"target": "gpu1"}, architecture="x86_64")
    change(
        rows, "switch_pfc", {"target": "leaf1", "port": "Ethernet0", "priority": 3}, enabled=False
    )
    rows["probe_result"] += [
        *answers("gpu1", "pci_config", "lscpu"),
        *({**answers("gpu1", "mlxconfig")[0], "instance": pci} for pci in (NIC, "0000:11:10.0")),
        {**answers("leaf1", "sonic_show")[0], "instance": "show interfaces status"},
        *answers("leaf1", "sonic_config_db"),
    ]
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, with_faults())
    (folder / "site.toml").write_text(SITE)
    return folder


@pytest.fixture(scope="module")
def findings(store: Path) -> Iterator[Findings]:
    """All rules over it, with a verdict for every subject."""
    rules = {name: rule for name, rule in shipped().items() if not rule.baseline}
    site = load_site(store / "site.toml")
    with checked(find(store, None), rules, site, [], named=[*HOSTS, "leaf1"]) as made:
        show_intent(made)
        yield made


def run(store: Path, *words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(program(), [*words, "--store", str(store)], input=stdin)


def told(store: Path, rule: str, subject: str) -> str:
    done = run(store, "explain", rule, "--subject", subject)
    assert done.exit_code == 0, done.exception
    return done.stdout


def refused(store: Path, *words: str) -> str:
    error = run(store, *words).exception
    assert isinstance(error, RailwrightError)
    return "\n".join(error.lines())


# ---- subjects


@pytest.mark.parametrize(
    ("rule", "typed", "subject"),
    [
        ("acs-redirect", "gpu1", "gpu1:0000:10:10.0"),
        ("acs-redirect", "gpu1:mlx5_0", "gpu1:0000:10:10.0"),
        ("acs-redirect", "GPU1:MLX5_0", "gpu1:0000:10:10.0"),
        ("acs-redirect", "gpu1:ens1", "gpu1:0000:10:10.0"),
        ("acs-redirect", "gpu1:10:10.0", "gpu1:0000:10:10.0"),
        ("acs-redirect", "gpu1:mlx5_1", "gpu1:0000:11:10.0"),
        ("intent-mtu", "gpu2:11:10.0", "gpu2:mlx5_1/1"),
        ("intent-mtu", "gpu2:ens2", "gpu2:mlx5_1/1"),
        ("switch-pfc-mismatch", "LEAF1:ethernet0", "leaf1:Ethernet0"),
        ("switch-pfc-mismatch", "leaf1:etp1a", "leaf1:Ethernet0"),
        ("link-lossless-differs", "gpu2:mlx5_1", "gpu2:ens2"),
        ("intent-gpus", "gpu2:mlx5_1", "gpu2"),
    ],
)
def test_a_subject_by_any_of_its_names(
    findings: Findings, rule: str, typed: str, subject: str
) -> None:
    machine = machine_named(findings.database, typed.partition(":")[0])
    found = subjects_named(findings, shipped()[rule], typed, machine)
    assert found[0].subject == subject


def test_of_several_subjects_the_failing_one_is_explained(store: Path) -> None:
    text = told(store, "pcie-below-port-rate", "gpu2")
    assert "\ngpu2:0000:10:10.0: fail\n" in text
    assert "also      gpu2:0000:11:10.0 (fail)\n" in text
    assert "gpu1" not in text.partition("\ngpu2:")[2]


def test_who_is_not_there_is_met_with_failing_subjects(store: Path) -> None:
    text = refused(store, "explain", "switch-pfc-mismatch", "--subject", "gpu1:nothing")
    assert text == "switch-pfc-mismatch has no result for 'gpu1:nothing'\nFailing: leaf1:Ethernet0."
    text = refused(store, "explain", "pcie-below-port-rate", "--subject", "gpu3")
    assert text == "unknown host or switch 'gpu3'\nDid you mean gpu2 or gpu1?"


def test_without_a_subject_those_that_fail_are_listed(store: Path, tmp_path: Path) -> None:
    text = run(store, "explain", "pcie-below-port-rate").stdout
    assert "\nFailing: 2 subjects in this snapshot\n" in text
    assert "\n  pcie-below-port-rate --subject gpu2:0000:10:10.0\n" in text
    done = run(tmp_path, "explain", "port-down")
    assert done.exit_code == 0
    assert "snapshot" not in done.stdout.splitlines()[-1]


def test_a_subject_alone_is_met_with_show(store: Path) -> None:
    text = refused(store, "explain", "gpu1:mlx5_0")
    assert text == "'gpu1:mlx5_0' is not a rule\nDid you mean railwright show gpu1?"


# ---- the fact that decided


def rows_of(text: str, table: str) -> list[list[str]]:
    """The printed rows of a table, by words."""
    lines = text.partition("\ngpu")[2].splitlines()
    at = lines.index(table)
    rows = []
    for line in lines[at + 2 :]:
        if not line.startswith("  "):
            break
        rows.append(line.split())
    return rows


def test_the_row_that_decided_is_shown_and_marked(store: Path) -> None:
    """The NIC itself has no ACS; its bridge has. Of two GPUs only the one beside it matters."""
    text = told(store, "acs-redirect", "gpu1:mlx5_0")
    assert "observed  ReqRedir+\n" in text
    assert f"detail    at {BRIDGE}\n" in text
    assert rows_of(text, "pci_config") == [
        [BRIDGE, "!", "present", "True", "False"],
        [NIC, "absent", "none", "none"],
    ]
    assert [row[:2] for row in rows_of(text, "gpu_nic")] == [["0000:10:11.0", NIC]]
    assert [row[0] for row in rows_of(text, "pcie_path")] == [NIC, NIC, NIC]
    assert "sql '" not in text


def test_both_ends_of_a_link_are_shown(store: Path) -> None:
    text = told(store, "link-lossless-differs", "leaf1:Ethernet0")
    assert "  leaf1   Ethernet0  " in text
    assert "  gpu1    ens1       " in text


def test_only_what_decided_is_marked(findings: Findings) -> None:
    """9000 was observed and is right; the PFC mask of leaf1 is not."""
    made = explain(findings, shipped()["intent-mtu"], "gpu1:mlx5_0/1")
    assert made.verdict["observed"] == "9000"
    assert not any(one for seen in made.seen for one in seen.deciding)


# ---- evidence


def evidence_of(text: str) -> list[list[str]]:
    found = text.partition("\nEvidence\n")[2].splitlines()
    return [shlex.split(one, comments=True)[2:] for one in found if "railwright evidence" in one]


def test_every_input_names_the_answer_it_was_read_from(store: Path) -> None:
    found = evidence_of(told(store, "acs-redirect", "gpu1:mlx5_0"))
    assert ["gpu1", "pci"] in found
    assert ["gpu1", "pci_config"] in found
    assert ["gpu1", "lscpu"] in found
    assert sorted(map(tuple, found)) == sorted(set(map(tuple, found)))  # each once


def test_of_a_probe_with_many_answers_the_subjects_own_is_named(findings: Findings) -> None:
    made = explain(findings, shipped()["firmware-parameter-pending"], f"gpu1:{NIC}")
    assert [one.instance for one in made.answers if one.probe == "mlxconfig"] == [NIC]


def test_switches_have_evidence_too(store: Path) -> None:
    found = evidence_of(told(store, "switch-pfc-mismatch", "leaf1"))
    assert ["leaf1", "sonic_config_db"] in found
    assert ["leaf1", "sonic_show"] in found  # of several commands all
    assert ["gpu1", "mlnx_qos"] in found  # the link partner's


def test_every_rule_is_explained_with_answers_that_are_there(findings: Findings) -> None:
    """Whatever is printed as a command names a real answer."""
    query = "SELECT target, probe, instance FROM probe_result"
    there = set(findings.database.execute(query).fetchall())
    for rule in findings.rules.values():
        for one in judged(findings, rule)[:1]:
            made = explain(findings, rule, one.subject)
            assert all(len(seen.rows) <= 24 for seen in made.seen), rule.id
            for answer in made.answers:
                full = {(t, p, i) for t, p, i in there if (t, p) == answer[:2]}
                assert full, (rule.id, answer)
                assert not answer.instance or answer[:3] in full, (rule.id, answer)


# ---- the SELECT


def test_every_rule_runs_in_sql(store: Path) -> None:
    """What explain --sql prints, over one database as railwright sql makes it."""
    snapshot, site = find(store, None), load_site(store / "site.toml")
    rules = list(shipped().values())
    ran = 0
    everything = "\n".join(statement(rule) for rule in rules if not rule.baseline)
    with (
        made_for(everything, lambda: site, snapshot) as make,
        closed_database(snapshot, everything, make) as database,
    ):
        for rule in rules:
            text = statement(rule)
            if rule.baseline:
                assert "-- It needs an earlier snapshot" in text
                with pytest.raises(UsageError, match="needs an earlier snapshot"):
                    made_for(text, lambda: site, snapshot).__enter__()
                continue
            names = [column[0] for column in ask(database, text).description]
            assert names[: len(rule.subject.key)] == list(rule.subject.key), rule.id
            ran += 1
    assert ran > 100


@pytest.mark.parametrize(("rule", "fault"), [("switch-pfc-mismatch", "leaf1 Ethernet0")])
def test_a_select_goes_from_explain_to_sql(store: Path, rule: str, fault: str) -> None:
    text = run(store, "explain", rule, "--sql").stdout
    done = run(store, "sql", "-", "--format", "json", stdin=text)
    assert done.exit_code == 0, done.exception
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) >= 4
    assert " ".join(f"{row['target']} {row['port']}" for row in rows if row["fault"]) == fault


def test_a_select_over_two_snapshots_is_refused_with_words(store: Path) -> None:
    text = run(store, "explain", "rdma-retransmissions", "--sql").stdout
    assert "-- It needs an earlier snapshot" in text
    error = run(store, "sql", "-", stdin=text).exception
    assert isinstance(error, UsageError)
    assert "needs an earlier snapshot" in error.what


def test_a_mistake_in_the_site_file_keeps_nobody_from_other_questions(store: Path) -> None:
    wrong = store.parent / "wrong.toml"
    wrong.write_text("profile = 3\n")
    done = run(store, "sql", "SELECT 1 AS one", "--site", str(wrong))
    assert done.exit_code == 0
    error = run(store, "sql", "FROM nic_scope", "--site", str(wrong)).exception
    assert isinstance(error, RailwrightError)


# ---- for programs


def schema() -> object:
    return json.loads((REPOSITORY / "docs/schemas/explain-1.json").read_text("utf-8"))


def test_json_of_a_subject(store: Path) -> None:
    done = run(store, "explain", "GDR-01", "--subject", "gpu1:mlx5_0", "--json")
    data = json.loads(done.stdout)
    jsonschema.validate(data, schema())
    assert data["rule"]["id"] == "acs-redirect"
    assert data["rule"]["aliases"] == ["GDR-01"]
    one = data["subject"]
    assert (one["subject"], one["verdict"], one["state"]) == (f"gpu1:{NIC}", "fail", "open")
    assert (one["observed"], one["detail"]) == ("ReqRedir+", f"at {BRIDGE}")
    (config,) = [each for each in one["inputs"] if each["table"] == "pci_config"]
    assert config["rows"][0]["values"]["acs_request_redirect"] is True
    assert config["rows"][0]["deciding"] == ["pci"]
    assert config["rows"][1]["values"]["acs_request_redirect"] is None
    assert config["rows"][1]["none"] == ["acs_completion_redirect", "acs_request_redirect"]
    assert config["rows"][0]["none"] == []
    assert "railwright evidence gpu1 pci_config" in [each["command"] for each in one["evidence"]]


def test_json_of_a_rule_alone(store: Path, tmp_path: Path) -> None:
    data = json.loads(run(store, "explain", "pcie-below-port-rate", "--json").stdout)
    jsonschema.validate(data, schema())
    assert data["subject"] is None
    failing = [one["subject"] for one in data["subjects"] if one["verdict"] == "fail"]
    assert failing == ["gpu2:0000:10:10.0", "gpu2:0000:11:10.0"]
    data = json.loads(run(tmp_path, "explain", "port-down", "--json").stdout)
    jsonschema.validate(data, schema())
    assert data["snapshot"] is None
    repair = ("action", "setting", "disturbs", "disturbs_remark", "way_back")
    assert [data["rule"][key] for key in repair] == ["reseat", None, "hands on site", None, None]


# ---- the page


def test_the_page_has_its_words(tmp_path: Path) -> None:
    text = run(tmp_path, "explain", "pcie-link-narrow").stdout
    assert "\nExceptions and false positives\n" in text
    assert "\nInputs: nic_scope, pci_function, pcie_path (optional: pcie_endpoint, " in text
    assert "\n    engineering judgement\n" in text
    assert "not read" not in text
    assert "\n\nDisturbs: power cycle\n  the host goes off, standby power too\n\n" in text
    every = run(tmp_path, "explain", "pcie-link-narrow", "--inputs").stdout
    assert "\n  nic_parameter.current_code, optional: only for the words: a limit in" in every
    remark = run(tmp_path, "explain", "intent-pfc").stdout
    assert "\nDisturbs: link flap (only if the mask changes)\n" in remark
    assert "\n  way back: the old value, at the same cost\n" in remark
