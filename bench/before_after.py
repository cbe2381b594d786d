"""Is any verb slower than it was? CPU of each verb, with this tree and with an earlier one.

    python -m bench.before_after REVISION [ROUNDS]

Both read the same snapshot, the demonstration as the earlier revision ships it, in turn; the least
CPU of all rounds counts, because whatever runs beside only adds. What a verb starts is counted too.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
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


def _cpu(work: Callable[[], None]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(tree: Path, words: tuple[str, ...], places: dict[str, Path], scratch: Path) -> float:
    with tempfile.TemporaryDirectory(dir=scratch) as fresh:
        argv = [word.format(**places, fresh=fresh) for word in words]
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree / "src"),
            "RAILWRIGHT_STORE": str(places["store"]),
            "XDG_CACHE_HOME": str(scratch / "cache"),
            "PYTHONPYCACHEPREFIX": str(scratch / tree.name),
        }

        def work() -> None:
            done = subprocess.run(
                [sys.executable, "-m", "railwright", *argv], cwd=scratch, env=environment,
                stdin=subprocess.DEVNULL, capture_output=True,
            )  # fmt: skip
            assert done.returncode in (0, 1, 3), (argv, done.stderr[-500:])

        return _cpu(work)


def _tree(revision: str, folder: Path) -> Path:
    """The package as it was."""
    folder.mkdir()
    archive = subprocess.run(
        ["git", "-C", REPOSITORY, "archive", revision, "src"], check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def measure(revision: str, rounds: int, scratch: Path) -> dict[str, tuple[float, float]]:
    """verb -> least CPU before, least CPU now."""
    trees = {"before": _tree(revision, scratch / "before"), "now": REPOSITORY}
    archive = scratch / "before/src/railwright/demo/fabric.tar.xz"
    store = unpack(scratch / "store", archive)
    other = unpack(scratch / "other", archive) / NAME
    (scratch / "answers").mkdir()
    (rw,) = answers(scratch / "answers", [hgx_h100(1)])
    places = {"store": store, "other": other, "rw": rw}
    found: dict[str, tuple[float, float]] = {}
    for verb, words in VERBS.items():
        least = dict.fromkeys(trees, float("inf"))
        for number in range(rounds + 1):  # the first one fills caches
            for name, tree in trees.items():
                spent = _run(tree, words, places, scratch)
                least[name] = min(least[name], spent) if number else least[name]
        found[verb] = (least["before"], least["now"])
        ratio = found[verb][1] / found[verb][0]
        print(f"{verb:24} {found[verb][0]:7.3f} {found[verb][1]:7.3f}  {ratio:.3f}", flush=True)
    return found


def main() -> None:
    """Measure and write."""
    revision, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as name:
        found = measure(revision, rounds, Path(name))
    rows = [
        (f"`{verb}`", f"{now / before:.3f} ({before:.2f} s, {now:.2f} s)", f"<= {MOST}")
        for verb, (before, now) in found.items()
    ]
    how = (
        f"`python -m bench.before_after {revision} {rounds}`: CPU of every verb, all its "
        f"processes, over the demonstration of 32 hosts; the least of {rounds} rounds in turn. "
        "Ratio, before, now."
    )
    write_section(f"Verbs: CPU against {revision}", how, rows)


if __name__ == "__main__":
    main()
