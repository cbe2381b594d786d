"""Is any verb slower than it was? CPU of each verb, with this tree and with an earlier one.

    python -m bench.before_after REVISION [ROUNDS]

Both read the same snapshot, the demonstration as the earlier revision ships it, at the same moment,
each on a core of its own; the next round they change cores. A machine whose speed wavers, because
others use it too, so slows both alike. The median of the rounds' ratios counts. What a verb starts
is counted too.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.figures import write_section
from bench.hosts import answers
from lab.fleet import hgx_h100
from railwright.demo import unpack

REPOSITORY = Path(__file__).parents[1]
NAME = "2026-11-14T2215Z"
MOST = 1.05
# verb -> its arguments; {other} is a second snapshot, {rw} what a lone runner wrote on a host
VERBS: dict[str, tuple[str, ...]] = {
    "check": ("check",),
    "check --format json": ("check", "--format", "json"),
    "explain": ("explain", "PCI-02", "--subject", "ember-h007:0000:29:00.0"),
    "rules": ("rules",),
    "facts": ("facts",),
    "show": ("show", "ember-h007"),
    "links": ("links",),
    "rails": ("rails",),
    "path": ("path",),
    "predict ceiling": ("predict", "ceiling"),
    "diff": ("diff", "{other}"),
    "sql": ("sql", "SELECT count(*) FROM rdma_port"),
    "evidence": ("evidence", "ember-h007", "lspci"),
    "intent init": ("intent", "init"),
    "hardware": ("hardware", "MCX755106AS-HEAT"),
    "store list": ("store", "list"),
    "runner": ("runner",),
    "import": ("import", "{rw}", "--store", "{fresh}"),
    "merge": ("merge", "{other}", "--store", "{fresh}"),
    "collect --via local": (
        *("collect", "--via", "local", "--state-from", "none"),
        *("--store", "{fresh}"),
    ),
}


def _start(tree: Path, words: tuple[str, ...], places: dict[str, Path], core: int) -> int:
    """The process of one verb with one tree, on one core."""
    scratch = places["scratch"]
    fresh = tempfile.mkdtemp(dir=scratch)
    argv = [word.format(**places, fresh=fresh) for word in words]
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "src"),
        "RAILWRIGHT_STORE": str(places["store"]),
        "XDG_CACHE_HOME": str(scratch / "cache" / tree.name),
        "PYTHONPYCACHEPREFIX": str(scratch / "compiled" / tree.name),
    }
    command = ["taskset", "-c", str(core), sys.executable, "-m", "railwright", *argv]
    return subprocess.Popen(
        command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ).pid  # fmt: skip


def _cpu(pid: int, verb: str) -> float:
    """CPU of a process and of all that it started, once it has ended."""
    _, status, spent = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1, 3), verb
    return spent.ru_utime + spent.ru_stime


def _tree(revision: str, folder: Path) -> Path:
    """The package as it was."""
    folder.mkdir()
    archive = subprocess.run(
        ["git", "-C", REPOSITORY, "archive", revision, "src"], check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def measure(revision: str, rounds: int, scratch: Path) -> dict[str, list[tuple[float, float]]]:
    """verb -> CPU before and now, of each round."""
    before = _tree(revision, scratch / "before")
    archive = scratch / "before/src/railwright/demo/fabric.tar.xz"
    store = unpack(scratch / "store", archive)
    other = unpack(scratch / "other", archive) / NAME
    (scratch / "answers").mkdir()
    (rw,) = answers(scratch / "answers", [hgx_h100(1)])
    places = {"store": store, "other": other, "rw": rw, "scratch": scratch}
    cores = sorted(os.sched_getaffinity(0))[:2]
    found: dict[str, list[tuple[float, float]]] = {}
    for verb, words in VERBS.items():
        pairs = []
        for number in range(rounds + 1):  # the first one fills caches
            first, second = cores if number % 2 else reversed(cores)
            old, new = (
                _start(before, words, places, first),
                _start(REPOSITORY, words, places, second),
            )
            pairs.append((_cpu(old, verb), _cpu(new, verb)))
        found[verb] = pairs[1:]
        print(f"{verb:24} {ratio(found[verb]):.3f}", flush=True)
    return found


def ratio(pairs: list[tuple[float, float]]) -> float:
    """What a verb costs now, in what it cost before."""
    return statistics.median(now / before for before, now in pairs)


def main() -> None:
    """Measure and write."""
    revision, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as name:
        found = measure(revision, rounds, Path(name))
    rows = [
        (f"`{verb}`", f"{ratio(pairs):.3f} ({min(now for _, now in pairs):.2f} s)", f"<= {MOST}")
        for verb, pairs in found.items()
    ]
    how = (
        f"`python -m bench.before_after {revision} {rounds}`: CPU of every verb, all its "
        "processes, over the demonstration of 32 hosts, in what it was: both at the same moment, a "
        f"core each; the median of {rounds} rounds. In brackets the least CPU now."
    )
    write_section(f"Verbs: CPU against {revision}", how, rows)


if __name__ == "__main__":
    main()
