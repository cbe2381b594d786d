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
import sysconfig
import tempfile
import venv
from pathlib import Path

from bench.figures import write_section
from lab.fleet import hgx_h100
from lab.harness.hosts import answers
from railwright.demo import unpack

REPOSITORY = Path(__file__).parents[1]
NAME = "2026-11-14T2215Z"
MOST = 1.05
FLEET = 64
# verb -> its arguments; {other} is a second snapshot, {rw} what a lone runner wrote on a host,
# {fleet} a store with 64 hosts of these, imported by the tree itself
VERBS: dict[str, tuple[str, ...]] = {
    "check": ("check",),
    "check of 64 hosts": ("check", "--store", "{fleet}"),
    "check --format json": ("check", "--format", "json"),
    "explain": ("explain", "pcie-link-narrow", "--subject", "ember-h007:0000:29:00.0"),
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
    fresh, fleet = tempfile.mkdtemp(dir=scratch), scratch / "fleet" / tree.name
    argv = [word.format(**places, fresh=fresh, fleet=fleet) for word in words]
    environment = {
        **os.environ,
        "RAILWRIGHT_STORE": str(places["store"]),
        "XDG_CACHE_HOME": str(scratch / "cache" / tree.name),
        "PYTHONPYCACHEPREFIX": str(scratch / "compiled" / tree.name),
    }
    command = ["taskset", "-c", str(core), str(tree / "venv/bin/python"), "-m", "railwright", *argv]
    return subprocess.Popen(
        command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ).pid  # fmt: skip


def _cpu(pid: int, verb: str) -> float:
    """CPU of a process and of all that it started, once it has ended."""
    _, status, spent = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1, 3), verb
    return spent.ru_utime + spent.ru_stime


def _tree(folder: Path, revision: str) -> Path:
    """The package as it was or is, with a Python of its own.

    The process that runs rules takes no search path from the environment (`python -I`).
    """
    folder.mkdir()
    if revision:
        archive = subprocess.run(
            ["git", "-C", REPOSITORY, "archive", revision, "src"], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    else:
        (folder / "src").symlink_to(REPOSITORY / "src")
    venv.create(folder / "venv", symlinks=True)
    libraries = sysconfig.get_path("purelib")
    (own,) = (folder / "venv/lib").glob("python*/site-packages")
    (own / "tree.pth").write_text(f"{folder / 'src'}\n{libraries}\n")
    return folder


def measure(revision: str, rounds: int, scratch: Path) -> dict[str, list[tuple[float, float]]]:
    """verb -> CPU before and now, of each round."""
    before, after = _tree(scratch / "before", revision), _tree(scratch / "now", "")
    archive = scratch / "before/src/railwright/demo/fabric.tar.xz"
    store = unpack(scratch / "store", archive)
    other = unpack(scratch / "other", archive) / NAME
    (scratch / "answers").mkdir()
    rw, *others = answers(scratch / "answers", [hgx_h100(n) for n in range(1, FLEET + 1)])
    places = {"store": store, "other": other, "rw": rw, "scratch": scratch}
    for tree in (before, after):
        words = ("import", *map(str, (rw, *others)), "--store", "{fleet}")
        _cpu(_start(tree, words, places, 0), "import")
    cores = sorted(os.sched_getaffinity(0))[:2]
    found: dict[str, list[tuple[float, float]]] = {}
    for verb, words in VERBS.items():
        pairs = []
        for number in range(rounds + 1):  # the first one fills caches
            first, second = cores if number % 2 else reversed(cores)
            old, new = (
                _start(before, words, places, first),
                _start(after, words, places, second),
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
        "processes, over the demonstration of 32 hosts where no other number stands, in what it "
        f"was: both at the same moment, a core each; the median of {rounds} rounds. "
        "In brackets the least CPU now."
    )
    write_section(f"Verbs: CPU against {revision}", how, rows)


if __name__ == "__main__":
    main()
