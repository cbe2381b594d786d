"""Ctrl-C in any verb: status 130, one line, no traceback, and nobody goes on working."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.harness.by_hand import answers, target, with_derived

ENDLESS = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1"
RULE = """/* +++
id = "SITE-01"
title = "Slow"
severity = "high"
subject = "host"
needs = ["target.status"]
message = "{{subject}}"
since = "1"
sources = ["judgement: a test"]
+++
## Why it matters
For the test.

## What to do
Nothing.

## Exceptions
Never.
*/
select target, status as observed, 0 as expected, true as applies, ({query}) > 0 as fault from target
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rows = {"target": [target("gpu1")], "probe_result": answers("gpu1", "netdev")}
    with_derived(tmp_path / "store", rows)
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "slow.sql").write_text(RULE.format(query=ENDLESS))
    (pack / "slow.cases.yaml").write_text(
        "all: {target: [{target: a}, {target: b}, {target: c}], ok: [a], fail: [b], unknown: [c]}\n"
    )
    return tmp_path / "store"


def children(pid: int) -> list[int]:
    """Its children and theirs."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found += [int(entry.name), *children(int(entry.name))]
    return found


@pytest.mark.parametrize(
    ("words", "is_apart"),
    [
        (["check", "--rules", "pack"], True),
        (["sql", ENDLESS], False),
        (["sql", "-"], False),  # waits for somebody to type
    ],
)
def test_ctrl_c(store: Path, words: list[str], is_apart: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "railwright", *words, "--store", str(store)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=store.parent,
    )  # fmt: skip
    try:
        stop(process, is_apart)
    finally:
        process.kill()


def stop(process: "subprocess.Popen[str]", is_apart: bool) -> None:
    deadline = time.monotonic() + 30
    while is_apart and not children(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(3)
    below = children(process.pid)
    assert bool(below) == is_apart
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    said = [line for line in errors.splitlines() if "has no digests" not in line]  # made by hand
    assert said == ["railwright: interrupted"]
    assert output == ""
    assert [pid for pid in below if os.path.exists(f"/proc/{pid}")] == []
