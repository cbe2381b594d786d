"""What verbs may say of snapshots that were damaged.

    with Damaging(folder) as damaging:    a small sealed snapshot, mutated and put right again
        damaging.trial(17)                the 17th of a fixed row of mutations: what was wrong with

A verb refuses a damaged snapshot in plain words, or answers as if it were whole.
"""

import json
import random
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from lab.harness.forked_verbs import Done, Verbs
from lab.harness.mutations import mutate
from lab.harness.small_snapshot import NAME, content, small_snapshot

SECONDS = 30.0  # for a verb over four hosts, on a machine with nobody else at work
USUAL = 2.0  # what `check` takes there
FIRST = 600.0  # for a sound snapshot, which is looked at for the first time
NO_DIGESTS = "no digests"
NOTICES = (NO_DIGESTS, "another version wrote")  # of the snapshot, before whatever a verb says


CHECK = ("check", "--select", "pcie-link-narrow", "--select", "intent-mtu", "--format", "json")
COUNTED = ("target", "host", "rdma_port", "probe_result", "pci_function", "netdev", "nic_parameter")
COUNTS = "SELECT " + ", ".join(f"(SELECT count(*) FROM {name}) AS {name}" for name in COUNTED)
PORTS = "SELECT target, device, port, state, netdev FROM rdma_port ORDER BY ALL"
ANSWERS = (
    "SELECT target, probe, count(*) AS n, sum(octet_length(stdout))::BIGINT AS size FROM evidence "
    "GROUP BY ALL ORDER BY ALL"
)
OTHERS: dict[str, tuple[str, ...]] = {
    "counts": ("sql", "--format", "json", COUNTS),
    "rows": ("sql", "--format", "json", PORTS),
    "evidence counts": ("sql", "--format", "json", ANSWERS),
    "tables": ("sql",),
    "facts": ("facts",),
    "show": ("show", "ember-h007"),
    "links": ("links", "--json"),
    "rails": ("rails", "--json"),
    "path": ("path", "--json"),
    "ceiling": ("predict", "ceiling", "--format", "json"),
    "nccl": ("predict", "nccl", "--format", "json"),
    "intent": ("intent", "init"),
    "answers": ("evidence", "ember-h007"),
    "evidence": ("evidence", "ember-h007", "lscpu"),
    "explain": ("explain", "pcie-link-narrow", "--subject", "ember-h007:0000:29:00.0"),
    "list": ("store", "list"),
    "verify": ("store", "verify"),
    "diff": ("diff", "{good}"),
    "merge": ("merge", "{path}", "--store", "{merged}"),
}  # fmt: skip
STORE_VERBS = ("list", "verify")  # these say it in their report
# What differs from run to run, whatever the snapshot: ages, the names of new snapshots, sizes.
_CHANGING = re.compile(
    rb"[\d,]+ (?:second|minute|hour|day)s? (?:old|ago)|\d{4}-\d\d-\d\dT\d{4}Z(?:-\d+)?|[\d.]+ MB"
)


def steady(out: bytes) -> bytes:
    return _CHANGING.sub(b"", out)


@dataclass(frozen=True)
class Trial:
    """One mutation, what was run over it, and what was wrong with that."""

    number: int
    mutation: str
    runs: dict[str, Done]
    faults: list[str]

    def words(self) -> str:
        return "\n".join(f"{self.number}: {self.mutation}: {fault}" for fault in self.faults)


class Damaging:
    """A snapshot in a store, mutated and put right again: what is remembered of it stays warm."""

    def __init__(self, folder: Path, seed: int = 7) -> None:
        self._seed = seed
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._good = small_snapshot(folder / "good")
        self._store = folder / "store"
        self._merged = folder / "merged"
        shutil.copytree(folder / "good", self._store)
        self._path = self._store / NAME
        self._content = content(self._good)
        self._verbs = Verbs(folder)
        self._patience = FIRST
        self._wanted = {name: self._run(name) for name in ("check", *OTHERS)}
        self._patience = SECONDS * max(self._run("check").seconds / USUAL, 1)
        bad = {n: d for n, d in self._wanted.items() if d.status not in (0, 1, 3)}
        if bad:
            self._verbs.close()
            raise RuntimeError(f"verbs that fail on a sound snapshot: {bad}")

    def __enter__(self) -> "Damaging":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._verbs.close()

    def _run(self, name: str) -> Done:
        words = CHECK if name == "check" else OTHERS[name]
        given = {"good": self._good, "merged": self._merged, "path": self._path}
        done = self._verbs.run(
            self._patience, *(w.format(**given) if w[:1] == "{" else w for w in words)
        )
        shutil.rmtree(self._merged, ignore_errors=True)
        return done

    def trial(self, number: int) -> Trial:
        """The same for the same number and seed, however many came before."""
        chance = random.Random(f"{self._seed}-{number}")
        mutation = mutate(self._path, chance)
        other = chance.choice(sorted(OTHERS))
        try:
            before = content_of_mutated(self._path)
            runs = {name: self._run(name) for name in ("check", other)}
            state = State(self._path, self._content)
            faults = [
                f"{name}: {fault}"
                for name, done in runs.items()
                for fault in wrong(name, done, self._wanted[name], state)
            ]
            if content_of_mutated(self._path) != before:
                faults.append("the snapshot was written to")
        finally:
            self._restore()
        return Trial(number, mutation, runs, faults)

    def _restore(self) -> None:
        """What was changed is as it was; the rest is not touched, and remembered as good."""
        good, path = self._good, self._path
        for one in sorted(path.rglob("*"), reverse=True) if not path.is_symlink() else []:
            name = str(one.relative_to(path))
            kept = self._content.get(name)
            if isinstance(kept, bytes) and is_file_of(one, kept):
                continue
            if isinstance(kept, int) and one.is_dir() and not one.is_symlink():
                continue
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink()
        for name, kept in self._content.items():
            if isinstance(kept, int):
                (path / name).mkdir(exist_ok=True)
        for name, kept in self._content.items():
            if isinstance(kept, bytes) and not (path / name).exists():
                shutil.copy(good / name, path / name)


def is_file_of(path: Path, data: bytes) -> bool:
    return stat.S_ISREG(path.lstat().st_mode) and path.read_bytes() == data


def content_of_mutated(path: Path) -> dict[str, object]:
    return content(path) if path.is_dir() else {}


class State:
    """What a mutation left: whether there are digests, and whether they still hold."""

    def __init__(self, path: Path, good: dict[str, object]) -> None:
        now = content_of_mutated(path)
        run = parsed(now.get("run.json"))
        self.has_digests = not (
            isinstance(run, dict) and "digest" not in run and run.get("format") in (1, True)
        )
        sealed = [name for name in good if name.endswith(".parquet")]
        same_run = json.dumps(run) == json.dumps(parsed(good["run.json"]))  # 2.0 is not 2
        same_files = all(now.get(name) == good[name] for name in sealed)
        self.is_whole = same_run and same_files
        # A verb that goes on may say "damaged" only where something is, besides the digests.
        self.run_was_damaged = besides_digests(run) != besides_digests(parsed(good["run.json"]))
        self.was_damaged = self.run_was_damaged or not same_files or now.keys() != good.keys()


def besides_digests(run: object) -> str:
    """What run.json says apart from what is taken away with the digests."""
    if not isinstance(run, dict):
        return ""
    return json.dumps({k: v for k, v in run.items() if k not in ("files", "digest", "format")})


def parsed(data: object) -> object:
    if not isinstance(data, bytes):
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def wrong(name: str, done: Done, wanted: Done, state: State) -> list[str]:
    """Why this is neither a refusal in plain words nor an honest answer."""
    found = [*_ill(done)]
    if found:
        return found
    if done.status == 2:
        lines = [one for one in done.err.splitlines() if not any(n in one for n in NOTICES)]
        if not 2 <= len(lines) <= 3:  # what happened, why it matters, what to do
            found.append(f"{len(lines)} lines: {done.err[:300]!r}")
        if state.is_whole:
            found.append(f"refused, although no sealed file was changed: {done.err[:300]!r}")
        return found
    if not state.has_digests:
        said = done.err + (done.out.decode() if name in STORE_VERBS else "")
        is_told = (name == "verify" and state.was_damaged and "DAMAGED" in said) or (
            name == "list" and state.run_was_damaged and "damaged: " in said
        )
        return [] if is_told or NO_DIGESTS in said else [f"does not say {NO_DIGESTS!r}"]
    if name == "verify":
        if (done.status == 0) != state.is_whole:
            found.append(f"status {done.status}: {done.out.decode()[-300:]!r}")
    elif name == "list" and not state.is_whole:
        pass  # it reads run.json alone, and says of a damaged one that it is
    elif (done.status, steady(done.out)) != (wanted.status, steady(wanted.out)):
        found.append(
            f"another answer, without a word: status {done.status}: {_differs(done, wanted)}"
        )
    return found


def _ill(done: Done) -> list[str]:
    """What no verb may do over any snapshot."""
    found = []
    if done.is_late:
        found.append(f"was at work for {done.seconds:.0f} s and more")
    elif done.status < 0:
        found.append(f"ended by signal {-done.status}")
    elif done.status not in (0, 1, 2, 3):
        found.append(f"ended with {done.status}: {done.err[:300]!r}")
    if "Traceback" in done.err:
        found.append(f"a traceback: {done.err[-300:]!r}")
    if "internal error" in done.err:
        found.append(f"a fault of the tool: {done.err[:300]!r}")
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.err):
        found.append(f"control characters: {done.err[:300]!r}")
    return found


def _differs(done: Done, wanted: Done) -> str:
    now, then = steady(done.out).splitlines(), steady(wanted.out).splitlines()
    first = next((pair for pair in zip(now, then, strict=False) if pair[0] != pair[1]), (b"", b""))
    return f"{len(now)} lines, not {len(then)}: {first[0][:100]!r}, not {first[1][:100]!r}"
