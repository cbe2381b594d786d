"""No two verbs contradict each other about one snapshot; `python -m bench.agreement` tries 500."""

import random
from pathlib import Path

import pytest

from lab.harness import agreement
from lab.harness.agreeing import LOSSLESS, Decided, book_of, compare
from lab.harness.agreement import FORMATS, KINDS, Said
from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import change, fabric

# Drawn once: a way that is broken, an end that is silent, cables that are swapped, a host that is drained.
# 6, 8 and 9 have a site that decides more than a profile.
SEEDS = (6, 8, 9, 17, 20)


def test_there_are_twenty_kinds_of_statement() -> None:
    assert len(KINDS) >= 20
    assert sum(kind.startswith("exit status") for kind in KINDS) >= 5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.one_in(2)
def test_verbs_agree_on_a_random_fabric(seed: int) -> None:
    said = compare(seed)
    assert said["differences"] == [], said["fabric"]
    assert len(said["compared"]) >= 20


Words = tuple[str, ...]


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> dict[Words, Said]:
    """What each verb printed of a fabric with faults on links, without a contradiction."""
    store = tmp_path_factory.mktemp("store")
    rows = change(fabric(), "switch_port", {"target": "leaf1", "port": "Ethernet8"}, mtu=1500)
    change(rows, "netdev_fec", {"target": "gpu1", "netdev": "ens1"}, active="Off")
    change(rows, "pci_function", {"target": "gpu2", "pci": "0000:11:10.0"}, link_width=8)
    with_derived(store, rows)
    kept: dict[Words, Said] = {}
    usual = agreement.run

    def run(store: Path, *words: str) -> Said:
        kept[words] = usual(store, *words)
        return kept[words]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "run", run)
        book = book_of(store, Decided(LOSSLESS), random.Random(1), FORMATS)
    assert list(book.differences()) == []
    assert "what this PCIe path carries" in book.compared()
    return kept


@pytest.mark.parametrize(
    ("verb", "true", "false"),
    [
        (
            ("check", "--format", "json"),
            '"rule": "fabric-mtu-small"',
            '"rule": "host-mtu-above-switch"',
        ),
        (("check", "--format", "junit"), "<failure", "<error"),
        (("links", "--json"), '"rule": "fabric-mtu-small"', '"rule": "host-mtu-above-switch"'),
        (("links", "--json"), '"is_down": false', '"is_down": true'),
        (("path", "gpu1:mlx5_0"), "400G rs", "400G none"),
        (("path", "gpu1:mlx5_0"), "fabric-mtu-small: ", "host-mtu-above-switch: "),
        (("path", "--json"), "MTU 9216", "MTU 9000"),
        (("path", "--json"), "PFC 3", "PFC 4"),
        (("rails", "--json"), '"compute_ports": 4', '"compute_ports": 3'),
        (("rails", "--json"), '"compute_ports": 2', '"compute_ports": 1'),
        (("check", "--format", "text"), ", 4 compute ports", ", 3 compute ports"),
        (("predict", "ceiling"), '"role": "compute"', '"role": "storage"'),
        (("predict", "ceiling"), '"rail": 1', '"rail": 0'),
        (("facts",), "  compute  ", "  storage  "),
        (("show", "gpu1"), "  compute  ", "  storage  "),
        (("predict", "ceiling"), '"rate_gbps": 400.0', '"rate_gbps": 200.0'),
        (("predict", "ceiling"), '"into_memory_gbps": 229.85', '"into_memory_gbps": 226.85'),
        (("check", "--format", "json"), "229.9 Gb/s", "226.9 Gb/s"),
        (("facts",), "2 reached, 0 not reached", "1 reached, 1 not reached"),
        (("show", "gpu1"), "ACTIVE 400G", "ACTIVE 200G"),
        (("show", "leaf1"), "dscp", "pcp"),
        (("explain",), ": fail", ": ok"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else None,
)
def test_a_verb_that_lies_is_seen(
    verb: Words,
    true: str,
    false: str,
    spoken: dict[Words, Said],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    lies = 0

    def run(_: Path, *words: str) -> Said:
        nonlocal lies
        said = spoken.get(words, Said("", 0))
        if words[: len(verb)] != verb or true not in said.text:
            return said
        lies += 1
        return Said(said.text.replace(true, false), said.status)

    monkeypatch.setattr(agreement, "run", run)
    book = book_of(tmp_path, Decided(LOSSLESS), random.Random(1), FORMATS)
    assert lies
    assert list(book.differences())


@pytest.mark.parametrize(
    "verb", [("check", "--format", "text"), ("links",), ("path", "gpu1:mlx5_0"), ("path", "--json"),
             ("rails",), ("predict",)]
)  # fmt: skip
def test_an_exit_status_that_lies_is_seen(
    verb: Words, spoken: dict[Words, Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(_: Path, *words: str) -> Said:
        said = spoken.get(words, Said("", 0))
        lies = words[: len(verb)] == verb
        return Said(said.text, (said.status + 1) % 4) if lies else said

    monkeypatch.setattr(agreement, "run", run)
    book = book_of(tmp_path, Decided(LOSSLESS), random.Random(1), FORMATS)
    assert list(book.differences())
