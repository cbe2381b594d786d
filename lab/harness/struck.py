"""One host of a fleet has something wrong: the fleet under each kind of site file, at each size.

none     no site file
healthy  what `intent init` proposes of the healthy fleet, read and confirmed by the operator
broken   what `intent init` proposes of the fleet in which the host is as it is, as proposed
full     a site file of its own (lost parts: as healthy, of sixteen hosts)
one      `collect -w` of the one host, into a store that holds the healthy fleet; no site file
"""

import fcntl
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner, Result

from lab.fleet import HostModel
from lab.harness.fleets import STARTED, Reading, evidence_of, snapshot_of
from railwright.cli import program
from railwright.model.merge import merge
from railwright.store.snapshot import Snapshot, load

SIZES = (1, 4, 16)
SITES = ("none", "healthy", "broken", "full", "one")
STRUCK = 2  # the host that has something wrong: not the one that stands first in every list
APART_S = 3600.0


class Cell(NamedTuple):
    """One question: under which site file, among how many hosts."""

    site: str
    size: int


# The one host is held to its own past: how many hosts there were makes no difference.
CELLS = [Cell(site, size) for site in SITES for size in SIZES if site != "one" or size == SIZES[-1]]


def run(folder: Path, *words: str) -> Result:
    """A command, with a home of its own."""
    own = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    none = dict.fromkeys(("RAILWRIGHT_SITE", "RAILWRIGHT_WAIVERS", "XDG_CONFIG_HOME"))
    return CliRunner(env={**none, **own}).invoke(program(), list(words))


def _proposed(folder: Path, snapshot: Snapshot) -> str:
    """What `intent init` prints."""
    text: str = run(folder, "intent", "init", str(snapshot.path)).stdout
    return text.partition("Next: ")[0]


def _confirmed(text: str) -> str:
    """As an operator leaves it who has read it."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("unconfirmed"))


def prepare(
    made: Path, host_of: Callable[[int], HostModel], sizes: tuple[int, ...] = SIZES
) -> None:
    """Healthy fleets: whole ones, and without the host that will have something wrong."""
    if made.exists():
        return
    work = made.with_name(f"{made.name}.new")
    shutil.rmtree(work, ignore_errors=True)
    read = evidence_of(work, [host_of(number) for number in range(1, sizes[-1] + 1)])
    struck = host_of(STRUCK).name
    for size in sizes:
        names = [struck] if size == 1 else list(read)[:size]
        whole = snapshot_of(work / f"whole{size}", {name: read[name] for name in names})
        site = _confirmed(_proposed(work, whole))
        (work / f"healthy{size}.toml").write_text(site)
        (work / "full.toml").write_text(site)
        others = {name: read[name] for name in names if name != struck}
        if others:
            snapshot_of(work / f"others{size}", others)
            were = {name: one.moved(-APART_S) for name, one in others.items()}
            snapshot_of(work / f"before{size}", were, started=STARTED - APART_S)
    work.rename(made)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """One process at a time."""
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _only(store: Path) -> Snapshot:
    (path,) = [path for path in store.iterdir() if (path / "run.json").exists()]
    return load(path)


class Struck:
    """The host that has something wrong, among the others or alone."""

    def __init__(self, folder: Path, healthy: Path, host: HostModel) -> None:
        self._folder, self._healthy = folder, healthy
        (self._reading,) = evidence_of(folder / "host", [host]).values()
        self._name = host.name
        self._alone = snapshot_of(folder / "alone", {self._name: self._reading})

    def snapshot(self, cell: Cell) -> Snapshot:
        """The fleet of a cell."""
        if cell.site == "one":
            return self._again(cell.size)
        if cell.size == 1:
            return self._alone
        store = self._folder / f"store{cell.size}"
        if store.exists():
            return _only(store)
        others = _only(self._healthy / f"others{cell.size}")
        return merge(store, [others, self._alone], {"started": STARTED, "via": "test"})

    def _again(self, size: int) -> Snapshot:
        """Read alone, where the store knows how it was."""
        store = self._folder / "again"
        if store.exists():
            return load(max(path for path in store.iterdir() if (path / "run.json").exists()))
        shutil.copytree(self._healthy / f"whole{size}", store)
        later: Reading = self._reading.moved(APART_S)
        return snapshot_of(store, {self._name: later}, started=STARTED + APART_S)

    def earlier(self, host: HostModel, cell: Cell) -> list[str]:
        """Words of `check` that name a snapshot of how the fleet was before."""
        alone = self._folder / f"earlier-{cell.site == 'one'}"
        before = 0.0 if cell.site == "one" else -APART_S
        if not alone.exists():
            (reading,) = evidence_of(self._folder / "was", [host]).values()
            snapshot_of(alone, {self._name: reading.moved(before)}, started=STARTED + before)
        if cell.site == "one" or cell.size == 1:
            return ["--before", str(_only(alone).path)]
        store = self._folder / f"before{cell.size}"
        if not store.exists():
            others = _only(self._healthy / f"before{cell.size}")
            about = {"started": STARTED + before, "via": "test"}
            merge(store, [others, _only(alone)], about)
        return ["--before", str(_only(store).path)]

    def site(self, cell: Cell) -> list[str]:
        """Words of `check` that name its site file."""
        if cell.site in ("none", "one"):
            return []
        if cell.site == "broken":
            file = self._folder / f"broken{cell.size}.toml"
            file.write_text(_proposed(self._folder, self.snapshot(cell)))
        else:
            name = "full" if cell.site == "full" else f"healthy{cell.size}"
            file = self._healthy / f"{name}.toml"
        return ["--site", str(file)]

    def judged(self, cell: Cell, *words: str) -> tuple[int, dict[str, Any]]:
        """Exit status and report."""
        given = ("check", str(self.snapshot(cell).path), "--format", "json", *self.site(cell))
        done = run(self._folder, *given, *words)
        return done.exit_code, json.loads(done.stdout.partition("\nNext: ")[0])
