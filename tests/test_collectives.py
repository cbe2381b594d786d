"""What nccl-tests should print, held to what was published."""

import csv
import statistics
from dataclasses import replace

import pytest
from conftest import SHARED
from hypothesis import example, given, settings
from hypothesis import strategies as some

from railwright.hardware.collectives import gpus
from railwright.predict.collectives import (
    COLLECTIVES,
    Cluster,
    algorithms,
    bound,
    factor,
    latency,
    predict,
)

H100, A100 = gpus()["H100"], gpus()["A100"]
GIB = 1 << 30


def h100(nodes: int) -> Cluster:
    return Cluster(H100, 8, 8, 400, nodes)


@pytest.mark.shared
def test_the_ring_against_the_table_of_simai() -> None:
    """All 77 cells of several nodes; facts/predict.md, section 2: median 5.3 %, 81 % within 15 %."""
    with (SHARED / "oracles/simai/nic_ratio.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    errors = []
    for row in rows:
        for place, nodes in enumerate((2, 4, 8, 16, 32, 64, 128), 2):
            told = predict("all_reduce", "ring", h100(nodes), int(row[0]))
            assert told.bus is not None
            assert told.basis == "validated"
            errors.append(abs(told.bus / told.ceiling / float(row[place]) - 1))
    assert len(errors) == 77
    assert statistics.median(errors) <= 0.06
    assert sum(error <= 0.15 for error in errors) >= 0.75 * 77
    assert sum(error <= 0.30 for error in errors) >= 0.95 * 77


# facts/predict.md, section 2: the constants of SimAI, multiplied by hand.
@pytest.mark.parametrize(
    ("cluster", "algorithm", "told", "binding"),
    [
        (h100(1), "ring", 370.8, "NVLink"),
        # 18 links of 40.1 (NCCL's SM100_NVLINK_BW); two trays of GB200 are in one NVLink domain.
        (Cluster(gpus()["B200"], 8, 8, 400, 1), "ring", 721.8, "NVLink"),
        (Cluster(gpus()["GB200"], 4, 4, 400, 2), "ring", 721.8, "NVLink"),
        # 19 trays: one domain of 72 GPUs and a tray of four, whose four cards bind.
        (Cluster(gpus()["GB200"], 4, 4, 400, 19), "ring", 194.0, "network"),
        (Cluster(gpus()["GB200"], 4, 4, 400, 36), "ring", 721.8, "NVLink"),  # 72 cards have 3492
        (h100(1), "nvls", 475.0, "NVLink SHARP"),
        (h100(2), "ring", 370.8, "NVLink"),  # eight cards have 388
        (replace(h100(2), nics=4), "ring", 194.0, "network"),
        (Cluster(A100, 8, 8, 200, 16), "ring", 188.0, "network"),
        (replace(h100(2), nics=4), "tree", 194.0 * 2 * 15 / 16, "network"),
        (replace(h100(3), nics=4), "tree", 194.0 * 4 / 3 * 23 / 24, "network"),
        (replace(h100(4), nics=4), "tree", 194.0 * 31 / 32, "network"),
    ],
)
def test_ceilings_by_hand(cluster: Cluster, algorithm: str, told: float, binding: str) -> None:
    found = bound(algorithm, cluster)
    assert found.bus == pytest.approx(told)
    assert found.binding == binding


# Gb/s of a port at MTU 4096 (facts/predict.md: 392.06, 196.0), eight or four of them, as GB/s.
@pytest.mark.parametrize(
    ("cluster", "algorithm", "told"),
    [
        (replace(h100(2), nics=4), "ring", 4 * 392.06 / 8),
        (Cluster(A100, 8, 8, 200, 16), "ring", 8 * 196.03 / 8),
        (replace(h100(16), ceiling_gbps=229.9), "ring", 229.9),
        (h100(2), "ring", 370.8),
        (h100(1), "nvls", 480.0),
    ],
)
def test_what_nothing_goes_above(cluster: Cluster, algorithm: str, told: float) -> None:
    assert bound(algorithm, cluster).ceiling == pytest.approx(told, rel=1e-4)


def test_published_figures_of_blackwell() -> None:
    gb200, b200 = gpus()["GB200"], gpus()["B200"]
    # Azure, four GB200 of one tray by ring, 8 GB in place.
    told = predict("all_reduce", "ring", Cluster(gb200, 4, 4, 400, 1), 8 * GIB)
    assert told.low <= 679.61 <= told.high
    # A rack of 72: 835.32 and 846.82 (coreweave/nccl-tests 43); eight B200: more than 830 (nccl 1807).
    told = predict("all_reduce", "nvls", Cluster(gb200, 4, 4, 400, 18), 8 * GIB)
    assert all(told.low <= seen <= told.high for seen in (835.32, 846.82 - 0.1))
    told = predict("all_reduce", "nvls", Cluster(b200, 8, 8, 400, 1), 16 * GIB)
    assert told.low <= 830 <= told.high


def test_pairs_by_hand() -> None:
    # 48.5 GB/s per GPU, of whose data 8 of 15 parts go to the other node.
    assert bound("pairwise", h100(2)).bus == pytest.approx(48.5 * 15 / 8)


def test_published_figures_of_large_messages() -> None:
    told = predict("all_reduce", "ring", Cluster(A100, 8, 8, 200, 16), 64 * GIB)
    assert told.low <= 192 <= told.high  # NVIDIA, nccl issue 1576
    told = predict("all_reduce", "nvls", h100(1), 16 * GIB)
    assert all(told.low <= seen <= told.high for seen in (475, 476, 480))
    told = predict("all_reduce", "ring", h100(1), 16 * GIB)
    assert all(told.low <= seen <= told.high for seen in (365, 370))
    # The four cards of 400G of a cluster that later wrote of 194.9 GB/s (facts/source-claims.md 110).
    told = predict("all_reduce", "ring", Cluster(H100, 4, 4, 400, 2), 16 * GIB)
    assert told.ceiling >= 194.9
    assert told.low <= 194.9 <= told.high
    # 46 to 48 GB/s per 400G card, NVIDIA in nccl-tests issue 290: four of them, so that they bind.
    told = predict("all_reduce", "ring", replace(h100(16), nics=4), 64 * GIB)
    assert all(told.low <= 4 * seen <= told.high for seen in (46, 47, 48))


# nccl-tests doc/PERFORMANCE.md.
@pytest.mark.parametrize(
    ("collective", "told"),
    [("all_reduce", 1.75), ("all_gather", 0.875), ("reduce_scatter", 0.875), ("broadcast", 1),
     ("reduce", 1), ("all_to_all", 0.875)],
)  # fmt: skip
def test_the_factors(collective: str, told: float) -> None:
    assert factor(collective, 8) == told


def test_the_latency_of_a_ring_by_hand() -> None:
    # 64 GPUs on 8 nodes: 126 steps, 14 of them between nodes: 8.4 + 112 * 3.4 + 14 * 14.
    assert latency("all_reduce", "ring", h100(8)) == pytest.approx(585.2)
    # On AMD hosts a step inside a node takes at least 3 * 2 us.
    assert latency("all_reduce", "ring", replace(h100(8), cpu="AMD")) == pytest.approx(
        8.4 + 112 * 6 + 14 * 14
    )
    # A tree over 8 nodes: 8.4 + 2 * (7 * 4 + 3 * 14).
    assert latency("all_reduce", "tree", h100(8)) == pytest.approx(148.4)


def test_what_it_does_not_know_it_does_not_say() -> None:
    small = predict("all_reduce", "ring", h100(2), 1 << 19)
    assert (small.bus, small.low, small.high) == (None, None, None)
    pairs = predict("all_to_all", "pairwise", h100(2), GIB)
    assert pairs.bus is None
    assert pairs.ceiling > 0
    for algorithm in ("tree", "nvlstree"):
        assert predict("all_reduce", algorithm, h100(4), GIB).basis == "unvalidated"
    assert predict("all_gather", "ring", h100(4), GIB).basis == "unvalidated"
    # The table was met without the overhead that NCCL adds on AMD hosts.
    assert predict("all_reduce", "ring", h100(4), GIB).basis == "validated"
    assert predict("all_reduce", "ring", replace(h100(4), cpu="AMD"), GIB).basis == "unvalidated"
    assert "nvls" not in algorithms("all_reduce", Cluster(A100, 8, 8, 200, 1))


def test_a_slow_slot_lowers_it() -> None:
    # 229.9 Gb/s per card are 28.7 GB/s.
    slow = replace(h100(16), ceiling_gbps=229.9)
    assert bound("ring", slow).bus == pytest.approx(8 * 229.9 / 8)
    assert predict("all_reduce", "ring", slow, GIB).basis == "unvalidated"


clusters = some.builds(
    Cluster,
    some.sampled_from(list(gpus().values())),
    some.sampled_from([1, 2, 4, 8]),
    some.sampled_from([1, 2, 4, 8]),
    some.sampled_from([100, 200, 400, 800]),
    some.integers(2, 512),
)


@settings(max_examples=60, deadline=None)
@given(clusters, some.sampled_from(COLLECTIVES), some.integers(20, 36))
@example(Cluster(gpus()["GB200"], 2, 2, 200, 339), "all_reduce", 20)  # cards and NVLink about equal
def test_more_never_lowers_it(cluster: Cluster, collective: str, bits: int) -> None:
    for algorithm in algorithms(collective, cluster):
        before = predict(collective, algorithm, cluster, 1 << bits)
        for more in (replace(cluster, nics=2 * cluster.nics), replace(cluster, nic_gbps=800)):
            after = predict(collective, algorithm, more, 1 << bits)
            assert after.ceiling >= before.ceiling - 1e-9
            if before.bus is not None:
                assert after.bus >= before.bus - 1e-9
                assert before.low <= before.bus <= before.high <= before.ceiling + 1e-9
                larger = predict(collective, algorithm, cluster, 2 << bits)
                assert larger.bus >= before.bus - 1e-9
