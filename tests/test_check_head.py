"""The head of `railwright check`: how much was judged, of how much.

The demonstration has 14 switches and 32 hosts with 8 compute ports each: one of these is out of
service, one did not answer.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from altered import NAME, demo_store

CLASS = """
[[class]]
name = "{name}"
hosts = "{hosts}"
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return demo_store(tmp_path / "store")


def check(store: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "railwright", "check", NAME, "--store", str(store), *more],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_it_says_how_much_was_judged(store: Path) -> None:
    said = check(store).stdout
    assert "Checked: 30 of 31 hosts, 14 of 14 switches, 240 compute ports, 480 links; " in said
    assert "; 1 excluded" in said
    # Lanes, a cable, ACS, trust, PFC and MTU; a parameter that waits.
    assert "findings: 6 high, 2 medium" in said


def test_hosts_of_the_site_that_nobody_asked_are_unknown(store: Path) -> None:
    """Eight more than the snapshot has; one of them is out of service by the site's own word."""
    site = store / "site.toml"
    text = site.read_text().replace(
        "[out_of_service]", '[out_of_service]\n"ember-h040" = "not built yet"'
    )
    site.write_text(text + CLASS.format(name="all", hosts="ember-h[001-040]"))
    done = check(store, "--select", "part-missing")
    assert "Checked: 30 of 38 hosts" in done.stdout
    assert (
        "7 hosts  the site has it, the snapshot does not: part-missing (7)  ember-h[033-039]"
        in done.stdout
    )
    assert done.returncode == 3, done.stdout


def test_nothing_to_report_is_only_said_where_all_was_judged(store: Path) -> None:
    done = check(store, "--select", "gid-not-routable")
    assert "No findings" not in done.stdout  # one host did not answer
    assert done.returncode == 3
