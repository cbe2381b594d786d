"""A name is a name: whatever a machine, a snapshot or a file calls something, nothing runs."""

import json
import time
from pathlib import Path

import pytest
from altered import (
    NAME,
    copy_of,
    demo_store,
    railwright,
    rename_target,
    rewrite,
    without_digests,
)
from hypothesis import given
from hypothesis import strategies as st

from railwright.errors import UsageError
from railwright.node_sets import unfold
from railwright.nodes import fold, is_machine_name
from railwright.reach.targets import parse_node_set
from railwright.store.snapshot import seal


def evil(sentinel: Path) -> str:
    """What ClusterShell's own groups.conf would hand to a shell."""
    return f"@x' /dev/null;id>{sentinel};echo leaf001 #"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_store(tmp_path_factory.mktemp("names") / "store")


@pytest.fixture
def sentinel(tmp_path: Path) -> Path:
    return tmp_path / "pwned"


def test_folding_asks_nobody(sentinel: Path) -> None:
    said = fold(["leaf1", "leaf2", evil(sentinel), f"@x;id>{sentinel}", "@all", "@*"])
    assert not sentinel.exists()
    assert said.startswith("leaf[1-2],")
    assert "@all" in said


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["gpu1", "gpu2", "gpu3"], "gpu[1-3]"),
        ([f"gpu{n:03d}" for n in range(1, 513)], "gpu[001-512]"),
        (["gpu8", "gpu9", "gpu10"], "gpu[8-10]"),
        (["gpu08", "gpu09", "gpu10", "gpu100"], "gpu[08-10,100]"),
        ([f"leaf{n:03d}" for n in range(1, 17, 2)], "leaf[001-015/2]"),
        (["leaf1", "leaf3", "leaf5", "leaf7"], "leaf[1,3,5,7]"),
        ([f"r{r}n{n:02d}" for r in (1, 2, 3) for n in range(1, 9)], "r[1-3]n[01-08]"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
        (["Ethernet1/1", "Ethernet1/2"], "Ethernet1/[1-2]"),
        ([], ""),
        (["b", "a", "a"], "a,b"),
    ],
)
def test_how_names_are_folded(names: list[str], said: str) -> None:
    assert fold(names) == said


def test_a_machine_cannot_hide_behind_its_name() -> None:
    odd = ["leaf*", "?", "x!leaf001", "leaf001&zzz", "leaf[", "leaf[1-999999999]", "a,b", "", "x y"]
    said = fold(odd)
    assert all(name in said for name in odd)
    assert '"a,b"' in said, "a name with a comma reads as one"
    assert fold(["\x1b[2Jx"]) == '"?[2Jx"'


NAMES = st.sets(
    st.from_regex(r"[a-c]{1,2}(?:[0-9]{1,3}(?:-ib[0-9]{0,2})?)?", fullmatch=True), min_size=1
)


@given(NAMES)
def test_what_is_folded_unfolds_to_the_same(names: set[str]) -> None:
    assert set(unfold(fold(names))) == names


@pytest.mark.parametrize(
    "text", ["a[1-99999999]", "a[1-99999]b[1-99999]", "a[1-" + "9" * 5000 + "]"]
)
@pytest.mark.parametrize("expand", [unfold, parse_node_set])
def test_a_range_beyond_all_clusters_is_refused_at_once(text: str, expand) -> None:
    began = time.process_time()
    with pytest.raises(UsageError, match="machines"):
        expand(text)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("name", ["gpu001", "gpu-1.rack_2.example", "kim@gpu1", "10.0.0.7",
                                  "fe80::1%eth0", "::1", "_x"])  # fmt: skip
def test_what_is_a_name(name: str) -> None:
    assert is_machine_name(name)


@pytest.mark.parametrize("name", ["", "-oProxyCommand=x", "kim@-host", "h%n", "a b", "a;b", "$(id)",
                                  "a\n", "a/b", "@x", "x" * 254, "gpu\u200b1", "é", "a@b@c", "%h"])  # fmt: skip
def test_what_is_no_name(name: str) -> None:
    assert not is_machine_name(name)


@pytest.mark.parametrize(
    "words",
    [
        ("check", "{path}"),
        ("facts", "{path}"),
        ("predict", "ceiling", "{path}"),
        ("diff", "{path}", "{other}"),
        ("merge", "{path}"),
    ],
)
@pytest.mark.parametrize("is_forged", [False, True], ids=["without digests", "sealed again"])
def test_a_snapshot_with_such_a_target_is_not_opened(
    words: tuple[str, ...], is_forged: bool, store: Path, tmp_path: Path, sentinel: Path
) -> None:
    """Digests show damage, not forgery: whoever writes a name can write its digest."""
    path = copy_of(store, tmp_path / NAME)
    without_digests(path)
    rename_target(path, "ember-h007", evil(sentinel))
    if is_forged:
        seal(path, json.loads((path / "run.json").read_text()))
    done = railwright(*(w.format(path=path, other=store / NAME) for w in words), store=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "is not a host name" in done.stderr
    assert not sentinel.exists()


@pytest.mark.parametrize("words", [("facts",), ("rails",), ("show", "ember-h012"), ("links",)])
def test_what_a_host_hears_runs_nothing(
    words: tuple[str, ...], store: Path, tmp_path: Path, sentinel: Path
) -> None:
    """LLDP names and device names of a host that lies, in a snapshot without digests."""
    path = copy_of(store, tmp_path / NAME)
    without_digests(path)
    said = {"evil": evil(sentinel)}
    rewrite(path, "lldp_neighbor", "SELECT * REPLACE ($evil AS system_name) FROM {file}", said)
    rewrite(path, "rdma_port", "SELECT * REPLACE (device || $evil AS device) FROM {file}", said)
    rewrite(path, "link_end", "SELECT * REPLACE ($evil AS peer) FROM {file}", said)
    done = railwright(*words, store=tmp_path)
    assert done.returncode in (0, 1, 3), done.stderr
    assert not sentinel.exists()


def test_no_way_in_takes_such_a_name(store: Path, tmp_path: Path, sentinel: Path) -> None:
    name = evil(sentinel)
    (tmp_path / "nodes.json").write_text(json.dumps({"kind": "Node", "metadata": {"name": name}}))
    (tmp_path / "hosts").write_text(f"{name}\n")
    quoted = json.dumps(name)
    (tmp_path / "out.toml").write_text(f"[out_of_service]\n{quoted} = 'RMA'\n")
    (tmp_path / "switches.toml").write_text(f"[switches]\nsonic = {quoted}\n")
    (tmp_path / "site.toml").write_text("cabling = 'plan.csv'\n")
    (tmp_path / "plan.csv").write_text(
        f'a_device,a_port,b_device,b_port\n"{name.replace("#", "")}",1,leaf1,2\n'
    )
    (tmp_path / "x").write_text("x")
    mine = tmp_path / "store"
    for words in (
        ("import", "--kind", "kubernetes", tmp_path / "nodes.json"),
        ("import", "--kind", "lspci", "--target", name, tmp_path / "x"),
        ("collect", "-f", tmp_path / "hosts"),
        ("collect", "-w", name),
        ("collect", "-w", "gpu1", "--site", tmp_path / "out.toml"),
        ("collect", "--switches", "site", "--site", tmp_path / "switches.toml"),
        ("links", "--site", tmp_path / "site.toml", "--store", store),
        ("links", "--on", name, "--store", store),
    ):
        done = railwright(*words, store=mine)
        assert done.returncode == 2, (words, done.stdout, done.stderr)
        assert not sentinel.exists(), words
        assert "Traceback" not in done.stderr
