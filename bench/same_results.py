"""The same results before and after a change that is to have none.

    python -m bench.same_results REVISION [FOLDER OF SCRIPTS]    (as root)

The tree of REVISION reads every lab model, every fabric and what the scripts make, and says what
it finds; then this tree opens the same snapshots, which another version wrote. The JSON of
`check`, `links`, `rails` and `path` must be equal.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figures import write_section

HERE = Path(__file__).parents[1]
# Run by the tree of the other revision: lab models of two hosts, and one fabric of each shape.
MAKE = """
import sys
from pathlib import Path
try:
    from lab.harness.fabric_faults import snapshots
    from lab.harness.fleets import evidence_of, snapshot_of
except ModuleNotFoundError:  # a revision in which the benches had them
    from bench.fabric_faults import snapshots
    from bench.fleets import evidence_of, snapshot_of
from bench.fabric_faults import USUAL
from lab.fleet import MODELS
from lab.fleet.fabric import SHAPES, build
stores = Path(sys.argv[1])
for name, model in MODELS.items():
    snapshot_of(stores / name, evidence_of(stores / ".read", [model(1), model(2)]))
for name in USUAL:
    snapshots(stores / f"fabric-{name}", build(SHAPES[name]), ())
"""
VERBS = (("check", "--format", "json"), ("links", "--json"), ("rails", "--json"))
VOLATILE = ("age_s", "railwright")


def _run(tree: Path, folder: Path, *words: str) -> tuple[int, str]:
    """A program of one tree: its status and what it printed."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": f"{tree / 'src'}:{tree}",
            "PYTHONSAFEPATH": "1",
            "XDG_CACHE_HOME": str(folder / f"cache-{tree.name}"),
            "SCENARIO_WORK": str(folder / "scripts"),
            "PROJECT": str(tree),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout or done.stderr


def _stores(folder: Path) -> list[Path]:
    """Every store that was made, whoever made it."""
    return sorted({path.parents[1] for path in folder.rglob("run.json")})


def _answers(tree: Path, folder: Path, store: Path) -> dict[str, object]:
    """What one tree says of the newest snapshot of a store."""
    found: dict[str, object] = {}
    for words in VERBS:
        status, text = _run(tree, folder, "-m", "railwright", *words, "--store", str(store))
        found[words[0]] = [status, _plain(text)]
    rails = found["rails"]
    for one, other in _pairs(rails):
        ends = ("path", one, other, "--json", "--store", str(store))
        status, text = _run(tree, folder, "-m", "railwright", *ends)
        found[f"path {one} {other}"] = [status, _plain(text)]
    return found


def _plain(text: str) -> object:
    try:
        said = json.loads(text)
    except ValueError:
        return text
    return {k: v for k, v in said.items() if k not in VOLATILE} if isinstance(said, dict) else said


def _pairs(rails: object) -> Iterator[tuple[str, str]]:
    """Two ports of the first rail that has two, if the rails can be told."""
    text = json.dumps(rails)
    names = sorted({word for word in text.split('"') if word.count(":") == 1 and "mlx5" in word})
    if len(names) > 1:
        yield names[0], names[-1]


def main() -> None:
    """Compare, and write the figures."""
    revision, scripts = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="same-results-") as name:
        folder = Path(name)
        before = folder / "before"
        subprocess.run(
            ["git", "worktree", "add", "-q", str(before), revision], cwd=HERE, check=True
        )
        try:
            rows = _compare(before, folder, scripts)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(before)], cwd=HERE)
    write_section("Same results", f"`python -m bench.same_results {revision}`.", rows)


def _compare(before: Path, folder: Path, scripts: Path | None) -> list[tuple[str, str, str]]:
    status, said = _run(before, folder, "-c", MAKE, str(folder / "lab"))
    if status:
        raise SystemExit(said)
    for script in sorted(scripts.glob("s*.py")) if scripts else ():
        _run(before, folder, str(script.resolve()))
    compared = different = 0
    for store in _stores(folder):
        old, new = (_answers(tree, folder, store) for tree in (before, HERE))
        for verb in old:
            compared += 1
            if old[verb] != new.get(verb):
                different += 1
                print(f"DIFFERS {store.relative_to(folder)} {verb}", flush=True)
    return [
        ("stores, made by the other revision", f"{len(_stores(folder))}", "-"),
        ("answers of check, links, rails and path", f"{compared}", "-"),
        ("not the same", f"{different}", "0"),
    ]


if __name__ == "__main__":
    main()
