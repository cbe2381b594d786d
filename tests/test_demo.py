"""`railwright demo`: what it shows is what was put into the fabric, and it needs nothing."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

from railwright.demo import ARCHIVE, install, unpack
from railwright.model.remake import work_on
from railwright.store.lookup import find

MOST_BYTES = 1_200_000  # what it was when the demo had one snapshot and no switches
MOST_CPU_S = 60.0  # a gross regression; the figure itself is in docs/figures.md (bench.check)
NOW, BEFORE = "2026-11-14T2215Z", "2026-11-13T2215Z"
SPINE_PORT, LEAF_PORT = "ember-spine01:swp5", "ember-leaf02:Ethernet128"
# Written by hand from the faults in tools/demo_fabric.py: what is found, its state, and its cause.
FOUND = {
    # Eight lanes carry 252 Gb/s, and the port has 400.
    ("pcie-link-narrow", "ember-h007:0000:29:00.0"): ("open", None),
    ("pcie-below-port-rate", "ember-h007:0000:29:00.0"): ("implied", "pcie-link-narrow"),
    ("pcie-link-narrow", "ember-h004:0000:5b:00.0"): ("waived", "waived"),
    # It follows from the other.
    ("pcie-below-port-rate", "ember-h004:0000:5b:00.0"): ("waived", "waived"),
    ("acs-redirect", "ember-h012:0000:98:00.0"): ("open", None),
    # That one of its ports is set up differently is why the host differs from its peers, and why
    # the two ends of the link differ.
    ("intent-trust", "ember-h019:mlx5_3/1"): ("open", None),
    ("host-config-differs", "ember-h019"): ("implied", "intent-trust"),
    ("link-lossless-differs", "ember-h019:enp91s0np0"): ("implied", "intent-trust"),
    ("firmware-parameter-pending", "ember-h023:0000:a9:00.0"): ("open", None),
    ("host-config-differs", "ember-h023"): ("implied", "firmware-parameter-pending"),
    # 1500 bytes leave 1024 for RDMA.
    ("intent-mtu", "ember-h026:mlx5_0/1"): ("open", None),
    ("rdma-mtu-small", "ember-h026:mlx5_0/1"): ("implied", "intent-mtu"),
    ("rdma-mtu-differs", "ember-h026:mlx5_0/1"): ("implied", "intent-mtu"),
    ("host-config-differs", "ember-h026"): ("implied", "intent-mtu"),
    # The cables of rails 5 and 6 are mixed up: neither port is where the plan has it.
    ("cable-wrong-rail", "ember-h017:enp169s0np0"): ("open", None),
    ("cable-wrong-rail", "ember-h017:enp186s0np0"): ("open", None),
    ("cable-unlike-plan", "ember-h017:enp169s0np0"): ("implied", "cable-wrong-rail"),
    ("cable-unlike-plan", "ember-h017:enp186s0np0"): ("implied", "cable-wrong-rail"),
    # PFC is off at one end of the link between a spine and the leaf of rail 1.
    ("switch-pfc-mismatch", SPINE_PORT): ("open", None),
    ("link-lossless-differs", SPINE_PORT): ("implied", "switch-pfc-mismatch"),
}
# What only the counters of two days tell: the leaf had no room for what it could not pause, and the
# host that got these packets asked for them again.
RISEN = {
    # The cause is at the other end of the link, where nothing was dropped.
    ("switch-drops-lossless", LEAF_PORT): ("open", None),
    ("rdma-retransmissions", "ember-h009:mlx5_1/1"): ("open", None),
}
# facts/predict.md, section 1: 392.06 on the wire less 229.86 of Gen5 x8, or less 370.26 with 1024 bytes.
COSTS = {"pcie-link-narrow": 162.2, "intent-mtu": 21.8}
LEAVES = {f"ember-leaf{n:02d}" for n in range(1, 9)} | {"cinder-leaf01", "cinder-leaf02"}
# Two hosts do not answer, and each has a port on every leaf; one of them is known to be away.
UNKNOWN = {("ember-h029", "not reached: silent", "open")} | {
    (leaf, "the other end was not read: ember-h029 silent", "open") for leaf in LEAVES
}
# What only the host could tell that is out of service is excluded with it.
AWAY = {("ember-h030", "not reached: silent", "out of service")} | {
    (leaf, "the other end was not read: ember-h030 silent", "out of service") for leaf in LEAVES
}
# Neither system tells whether global pause is on, which waivers.toml accepts.
ACCEPTED = {
    *((leaf, "sonic does not report link_pause") for leaf in LEAVES if leaf.startswith("ember")),
    *((leaf, "cumulus does not report link_pause") for leaf in LEAVES if leaf.startswith("cinder")),
    *((f"ember-spine{n:02d}", "cumulus does not report link_pause") for n in range(1, 5)),
}


def railwright(*words: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "railwright", *words], capture_output=True, text=True, **options
    )


def verdicts(told: dict[str, Any]) -> dict[tuple[str, str], tuple[str, str | None]]:
    return {
        (one["rule"], one["subject"]): (
            one["state"],
            "waived" if one["waiver"] else one["cause"],
        )
        for one in told["findings"]
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "store")


@pytest.mark.parametrize("name", [NOW, BEFORE])
def test_it_is_small_and_of_this_version(store: Path, name: str) -> None:
    assert ARCHIVE.stat().st_size < MOST_BYTES
    assert find(store, None).name == NOW
    snapshot = find(store, name)
    assert list(snapshot.files()), "run: python -m tools.make_demo"
    assert work_on(snapshot) is None, (
        "tables would be rebuilt first; run: python -m tools.make_demo"
    )


def test_what_is_found_is_what_was_put_in(store: Path) -> None:
    done = railwright("check", "--store", str(store), "--format", "json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["profile"] == "roce-lossless"
    assert verdicts(told) == FOUND
    costs = {one["rule"]: one["cost_gbps"] for one in told["findings"] if one["state"] == "open"}
    assert {rule: cost for rule, cost in costs.items() if cost is not None} == COSTS
    unknown = {(one["target"], one["why"], one["state"]) for one in told["inconclusive"]}
    assert unknown == UNKNOWN | AWAY | {(*one, "accepted") for one in ACCEPTED}
    assert [
        one["id"] for one in told["rules"] if one["trouble"] not in ("", "not run (no baseline)")
    ] == []


def test_the_day_before_tells_what_has_risen(store: Path) -> None:
    done = railwright("check", "--before", "previous", "--store", str(store), "--format", "json")
    assert done.returncode == 1, done.stderr
    assert verdicts(json.loads(done.stdout)) == FOUND | RISEN


def test_the_day_before_had_other_faults(store: Path) -> None:
    """Two of today's were not there, one is mended since, and nobody had touched the spine."""
    done = railwright("check", BEFORE, "--store", str(store), "--format", "json")
    assert done.returncode == 1, done.stderr
    found = {rule_subject for rule_subject, said in verdicts(json.loads(done.stdout)).items()
             if said == ("open", None)}  # fmt: skip
    today = {one for one, said in FOUND.items() if said == ("open", None)}
    assert today - found == {
        ("pcie-link-narrow", "ember-h007:0000:29:00.0"),
        ("intent-mtu", "ember-h026:mlx5_0/1"),
        ("switch-pfc-mismatch", SPINE_PORT),
    }
    assert {rule_subject for rule_subject in found - today if "port-down" in rule_subject} == {
        ("port-down", "ember-h015:mlx5_2/1")
    }


def test_every_link_is_told_by_both_ends(store: Path) -> None:
    """30 hosts that answered have 10 ports each, and 10 leaves 16 uplinks."""
    done = railwright("links", "--store", str(store))
    assert "480 links\n" in done.stdout
    assert "300 to hosts, 160 between switches, 20 to machines that were not read" in done.stdout
    assert "460 confirmed by both link partners, 0 contradictory, 0 down" in done.stdout
    assert (
        "5 with findings" in done.stdout
    )  # two cables, trust, PFC, and an MTU that only its host has
    assert "intent-mtu at ember-h026:enp24s0np0: " in done.stdout


def test_a_path_breaks_at_the_spine(store: Path) -> None:
    done = railwright("path", "ember-h002:mlx5_4", "ember-h009:mlx5_1", "--store", str(store))
    assert done.returncode == 1, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("  First fault"))
    assert f"at hop 2, {SPINE_PORT}: " in line


def test_rails_mark_the_two_cables(store: Path) -> None:
    done = railwright("rails", "--store", str(store))
    assert done.returncode == 1, done.stderr
    marked = [line.split() for line in done.stdout.splitlines() if "1*" in line]
    assert [(words.index("1*"), words[-1]) for words in marked] == [
        (6, "ember-leaf06"), (5, "ember-leaf07"),
    ]  # fmt: skip


# ---- the command


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Nobody who has used it before; what the user has set does not matter."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path),
        "RAILWRIGHT_SITE": "/nowhere", "RAILWRIGHT_WAIVERS": "/nowhere",
    }  # fmt: skip


@pytest.fixture
def plain_home(home: dict[str, str]) -> dict[str, str]:
    """The same without files of the user's own."""
    return {name: home[name] for name in ("PATH", "HOME")}


STATE = ".local/state"
REMARK = "railwright: demo data (railwright demo); your first collect ends it\n"


def test_it_leaves_its_store_and_takes_it_away(tmp_path: Path, home: dict[str, str]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = railwright("demo", cwd=tmp_path, env=home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert done.returncode == 0, done.stderr
    assert spent < MOST_CPU_S
    assert "Traceback" not in done.stderr
    typed = [line for line in done.stdout.splitlines() if line.startswith("$ ")]
    assert typed == [
        "$ railwright check",
        "$ railwright explain pcie-link-narrow --subject ember-h007:0000:29:00.0",
    ]
    store = tmp_path / STATE / "railwright-demo"
    assert store.stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / STATE).iterdir()) == [store]  # no store of the user's own
    told = store.stat().st_ino
    assert railwright("demo", cwd=tmp_path, env=home).returncode == 0
    assert store.stat().st_ino == told  # the second time it is there already
    gone = railwright("demo", "--remove", cwd=tmp_path, env=home)
    assert (gone.returncode, gone.stderr) == (0, "The demo data is deleted.\n")
    assert not store.exists()
    again = railwright("demo", "--remove", cwd=tmp_path, env=home)
    assert (again.returncode, again.stderr) == (0, "There is no demo data.\n")
    assert "no snapshot in " in railwright("check", cwd=tmp_path, env=home).stderr


def test_what_it_did_not_make_it_does_not_delete(tmp_path: Path, home: dict[str, str]) -> None:
    store = tmp_path / STATE / "railwright-demo"
    store.mkdir(parents=True)
    (store / "thesis.tex").write_text("")
    for words in (["demo"], ["demo", "--remove"]):
        done = railwright(*words, cwd=tmp_path, env=home)
        assert done.returncode == 2
        assert "railwright demo did not make it" in done.stderr
    assert (store / "thesis.tex").exists()


@pytest.fixture
def installed(tmp_path: Path, home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "RAILWRIGHT_STORE"):
        monkeypatch.delenv(name, raising=False)
    return install()


HEADS = (
    ("facts",),
    ("show", "ember-h007"),
    ("show", "ember-leaf02"),
    ("rails",),
    ("links", "--odd"),
    ("path", "ember-h002:mlx5_4", "ember-h009:mlx5_1"),
    ("diff",),
    ("predict", "ceiling"),
    ("store", "list"),
    ("store", "verify"),
)


@pytest.mark.parametrize("words", HEADS, ids=" ".join)
@pytest.mark.one_in(2)
def test_every_screen_says_that_it_is_demo_data(
    words: tuple[str, ...], installed: Path, home: dict[str, str]
) -> None:
    done = railwright(*words, env=home)
    assert done.returncode in (0, 1, 3), done.stderr
    assert done.stderr.startswith(REMARK)
    if words != ("store", "verify"):  # which tells of files
        assert "demo data" in "".join(done.stdout.splitlines()[:3])
    assert "old," not in done.stdout
    assert " ago" not in done.stdout
    assert "merged_from" not in done.stdout


def test_the_first_snapshot_of_the_user_ends_it(
    installed: Path, plain_home: dict[str, str], tmp_path: Path
) -> None:
    home = plain_home
    assert railwright("facts", env=home).stderr.startswith(REMARK)
    named = railwright("facts", env=home | {"RAILWRIGHT_STORE": str(tmp_path / "mine")})
    assert "no snapshot in " in named.stderr  # whoever names a store means that one
    collected = railwright("collect", "--via", "local", "--state-from", "none", env=home)
    assert collected.returncode in (0, 3), collected.stderr
    assert "demo data" not in collected.stderr + collected.stdout
    facts = railwright("facts", env=home)
    assert "demo data" not in facts.stderr + facts.stdout
    assert "Snapshot 2026-11-14T2215Z" not in facts.stdout
    (made,) = (tmp_path / STATE / "railwright").glob("20*")
    assert len(list(installed.glob("20*"))) == 2
    toured = railwright("demo", env=home)
    assert f"There are snapshots of yours in {made.parent}: they come first." in toured.stderr
    assert f"export RAILWRIGHT_STORE={installed}" in toured.stdout


WAIVE = ("waive", "acs-redirect", "ember-h012", "--reason", "r", "--owner", "o", "--expires",
         "2099-01-01")  # fmt: skip


def test_nothing_of_it_gets_into_files_of_the_user(
    installed: Path, home: dict[str, str], tmp_path: Path
) -> None:
    own = tmp_path / ".config/railwright/waivers.toml"
    own.parent.mkdir(parents=True)
    own.write_text("")
    refused = railwright(*WAIVE, "--waivers", str(own), env=home)
    assert refused.returncode == 2
    assert "would get a waiver of a finding in demo data" in refused.stderr
    assert railwright(*WAIVE, env=home).returncode == 0
    assert own.read_text() == ""
    assert "ember-h012" in (installed / "waivers.toml").read_text()
    proposed = railwright("intent", "init", env=home)
    assert proposed.stdout.startswith("# Demo data: this is not your fabric.\n")
    assert "> site.toml, then railwright check" not in proposed.stderr


# ---- the README


def console_blocks(text: str) -> list[str]:
    return re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steps(block: str) -> list[tuple[str, str]]:
    """What is typed, and what is printed then."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_the_first_block_of_the_readme_is_true(home: dict[str, str], tmp_path: Path) -> None:
    """Typed as it stands, by somebody who has just installed it; … stands for what is left out."""
    first, *typed = steps(console_blocks((REPOSITORY / "README.md").read_text("utf-8"))[0])
    assert first == ("pipx install .", "")
    assert [command.split()[:2] for command, _ in typed[:3]] == [
        ["railwright", "demo"], ["railwright", "check"], ["railwright", "explain"],
    ]  # fmt: skip
    for command, expected in typed:
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=home
        )
        # What a line shows from a point on, and lines that are left out.
        pattern = re.escape(expected).replace("…\\\n", "…\n").replace("…", ".*")
        assert re.fullmatch(pattern, done.stdout, re.DOTALL), f"{command}\n{done.stdout}"


def examples() -> list[str]:
    """Command lines of the README that can be typed on any machine."""
    text = (REPOSITORY / "README.md").read_text("utf-8")
    found = [line.partition("  #")[0].strip() for block in re.findall(
        r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for line in block.splitlines()]  # fmt: skip
    return [line for line in found if line.startswith("railwright ") and not NEEDS.search(line)]


# A cluster, a file that the reader has, or what changes a store.
NEEDS = re.compile(
    r" (collect (?!--explain|--sudoers)|merge|import|store (finish|prune)|waive)|site\.toml|list\.csv|>"
)
OURS = (
    ("gpu001:mlx5_0", "ember-h001:mlx5_0"), ("gpu317:mlx5_0", "ember-h017:mlx5_0"),
    ("gpu017:0000:18:00.0", "ember-h007:0000:29:00.0"), ("gpu017", "ember-h017"),
    ("2026-11-14", BEFORE), (" sql\n", " sql --describe rdma_port\n"),
)  # fmt: skip


@pytest.mark.parametrize("line", examples())
def test_the_commands_of_the_readme_work_on_the_demo(
    line: str, store: Path, plain_home: dict[str, str]
) -> None:
    for theirs, ours in OURS:
        line = line.replace(theirs, ours)
    environment = plain_home | {"RAILWRIGHT_STORE": str(store)}
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=environment, cwd=store.parent,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr
    file = re.search(r" -o (\S+\.html)$", line)
    assert (store.parent / file[1]).stat().st_size > 1000 if file else done.stdout


def test_it_can_be_kept_to_go_on_by_hand(
    tmp_path: Path, home: dict[str, str], plain_home: dict[str, str]
) -> None:
    done = railwright("demo", "--keep", "kept", cwd=tmp_path, env=home)
    assert done.returncode == 0, done.stderr
    assert f"$ export RAILWRIGHT_STORE={tmp_path / 'kept'}\n" in done.stdout
    assert not (tmp_path / STATE).exists()
    by_hand = railwright("facts", "--store", "kept", cwd=tmp_path, env=plain_home)
    assert "ember-h" in by_hand.stdout
    again = railwright("demo", "--keep", "kept", cwd=tmp_path, env=home)
    assert again.returncode == 2
    assert "is there and not empty" in again.stderr


@pytest.mark.root
def test_it_needs_neither_root_nor_a_network(tmp_path: Path, home: dict[str, str]) -> None:
    """Without a single capability, on a machine that has no interface but its own."""
    bare = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    done = subprocess.run(
        ["unshare", "--net", *bare, sys.executable, "-m", "railwright", "demo"],
        capture_output=True, text=True, cwd=tmp_path, env=home,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "$ railwright explain pcie-link-narrow" in done.stdout


def test_a_parameter_is_named_as_mlxconfig_prints_it(store: Path) -> None:
    for name, value in (("PCI_WR_ORDERING", r"per_mkey\(0\)"), ("ROCE_CC_PRIO_MASK_P1", "255")):
        subject = f"ember-h023:0000:a9:00.0:{name}"
        done = railwright(
            "explain", "intent-parameter", "--subject", subject, "--store", str(store)
        )
        assert done.returncode == 0, done.stderr
        assert f"{subject}: ok" in done.stdout
        row = rf"0000:a9:00\.0 +{name.removesuffix('_P1')} +[01] +-1 +{value} "
        assert re.search(row, done.stdout), done.stdout
