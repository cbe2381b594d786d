"""What the verbs say of a fabric with eleven faults, beside what docs/fabric.md and docs/diff.md show."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.root


def railwright(store: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, "-m", "railwright", *words, "--store", str(store)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr
    return done


def test_a_link_partner_that_is_gone_is_the_reason(eleven_faults: Path) -> None:
    """LLDP at the leaf still has the NIC that gpu002 has lost: `values not read` said nothing."""
    done = railwright(eleven_faults, "check", "--json", "--select", "host-mtu-above-switch")
    told = json.loads(done.stdout)["inconclusive"]
    why = "link partner unknown: gpu002 has no port 5c:25:73:a0:ca:30"
    assert [(one["subject"], one["why"]) for one in told] == [("leaf004:Eth1/2", why)]


def test_rails_lead_to_a_port_that_is_misplaced(eleven_faults: Path) -> None:
    """links --odd, where the hint led, runs no preview rules and does not have it."""
    done = railwright(eleven_faults, "rails")
    assert "Next: railwright explain cable-unlike-peers --subject gpu011:mlx5_0\n" in done.stderr


def test_intent_init_leads_to_a_place_that_is_there(eleven_faults: Path) -> None:
    """~/.config/railwright need not be; the store of the snapshot is."""
    done = railwright(eleven_faults, "intent", "init", "2026-11-15T0700Z")
    where = eleven_faults / "site.toml"
    hint = f"Next: railwright intent init 2026-11-15T0700Z > {where}, then railwright check\n"
    assert hint in done.stderr


def test_intent_init_leads_past_a_site_file_that_is_there(
    eleven_faults: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('profile = "observe"\n')
    monkeypatch.setenv("RAILWRIGHT_SITE", str(own))
    assert "Next: railwright check\n" in railwright(eleven_faults, "intent", "init").stderr
