"""Why something is unknown: the probe that did not answer, also where it is not always asked."""

import json
import subprocess
import sys
from pathlib import Path

from lab.harness.by_hand import answers, target, with_derived
from railwright.check.reasons import probes_beside, probes_of
from railwright.check.rule import shipped
from tools import scope_reads

RULE = """/* +++
id = "SITE-07"
title = "Not as it should be"
severity = "low"
subject = "host"
needs = ["host.kernel"]
message = "{subject} has {observed}, not {expected}"
since = "1"
sources = ["judgement: a test"]

[uses]
"rdma_system.netns_mode" = "asked where the kernel is the right one"
"numa_node.cpu_count" = {purpose = "words"}
+++
## Why it matters
For the test.

## What to do
Nothing.

## Exceptions
Never.
*/
select h.target, h.kernel as observed, '6.8.0' as expected, true as applies,
    h.kernel <> '6.8.0' or r.netns_mode = 'exclusive' as fault,
    'of ' || n.cpu_count || ' CPUs' as detail
from host as h
left join rdma_system as r on r.target = h.target
left join numa_node as n on n.target = h.target and n.node = 0
"""
CASES = """
good: {host: [{kernel: 6.8.0}], rdma_system: [{netns_mode: shared}], ok: [a]}
bad: {host: [{kernel: 5.4.0}], fail: [a]}
open: {host: [{kernel: 6.8.0}], unknown: [a]}
"""


def test_a_probe_that_is_asked_in_some_cases_is_named_where_the_others_answered(
    tmp_path: Path,
) -> None:
    pack, store = tmp_path / "pack", tmp_path / "store"
    pack.mkdir()
    (pack / "odd.sql").write_text(RULE)
    (pack / "odd.cases.yaml").write_text(CASES)
    rows: dict[str, list[dict[str, object]]] = {
        "target": [target("gpu1"), target("gpu2")],
        "probe_result": [
            *answers("gpu1", rdma_system="denied", numa="denied"),
            *answers("gpu2", rdma_system="ok"),
        ],
        "host": [{"target": f"gpu{n}", "kernel": "6.8.0"} for n in (1, 2)],
    }
    with_derived(store, rows)
    done = subprocess.run(
        [sys.executable, "-m", "railwright", "check", "--store", str(store), "--rules", str(pack),
         "--select", "SITE-*", "--format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    told = {one["subject"]: one["why"] for one in json.loads(done.stdout)["inconclusive"]}
    assert told == {"gpu1": "rdma_system denied", "gpu2": "values not read"}


def test_of_the_catalogue() -> None:
    rule = shipped()["module-hot"]
    assert probes_beside(rule) == ["ethtool_module", "lscpu", "mlxlink"]
    assert not set(probes_beside(rule)) & set(probes_of(rule))
    assert (
        probes_beside(shipped()["pcie-link-downtrained"]) == []
    )  # firmware's limit is only for the words


def test_what_scopes_are_made_of_is_written_down_as_it_is() -> None:
    assert scope_reads.FILE.read_text("utf-8") == scope_reads.text(), "run: just scopes"
