"""A fleet with faults in it: read by the real runner, judged by the default rules."""

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.fleet import HostModel
from lab.fleet.faults import Declared, Injection, earlier, together
from lab.fleet.faults.fault import Verdict
from lab.fleet.faults.sites import host_of, site_text
from lab.harness.fleets import Reading, earlier_snapshot, evidence_of, snapshot_of
from railwright.check.run import Choice, checked, chosen
from railwright.intent.site import read_site
from railwright.store.snapshot import Snapshot

APART_S = 3600.0  # between the two snapshots
READERS = 2
# So many hosts of a kind are a group to compare in (review G-FLEET); these have two kinds.
LEAST_HOSTS = {"kubernetes_worker": 16}
USUAL_HOSTS = 8


def least_hosts(model: str) -> int:
    """How many healthy hosts a fleet has, so that there is a majority to differ from."""
    return LEAST_HOSTS.get(model, USUAL_HOSTS)


class Reader:
    """Reads each distinct host once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Reading] = {}

    def read(self, hosts: Iterable[HostModel]) -> list[Reading]:
        """What these hosts say."""
        listed = list(hosts)
        keys = [hashlib.sha256(repr(host).encode()).hexdigest() for host in listed]
        fresh = {k: h for k, h in zip(keys, listed, strict=True) if k not in self._known}
        with ThreadPoolExecutor(READERS) as pool:
            for key, reading in pool.map(self._one, fresh, fresh.values()):
                self._known[key] = reading
        return [self._known[key] for key in keys]

    def _one(self, key: str, host: HostModel) -> tuple[str, Reading]:
        return key, evidence_of(self._folder / key[:16], [host])[host.name]


@dataclass(frozen=True)
class Trial:
    """A fleet of one model under one site file, and the faults that are in it."""

    name: str
    model: str
    site: str
    injections: tuple[Injection, ...]

    def hosts(self) -> list[HostModel]:
        """All hosts as they are without faults: the healthy ones first."""
        struck = {one.place.host.name: one.place.host for one in self.injections}
        numbers = range(1, least_hosts(self.model) + 1)
        more = (host_of(self.model, number, self.site) for number in numbers)
        return list({host.name: host for host in (*more, *struck.values())}.values())

    def declared(self) -> Declared:
        """What must come of it."""
        return together(one.declared for one in self.injections)


@dataclass(frozen=True)
class Outcome:
    """What was found, beside what was declared."""

    trial: Trial
    fails: dict[Verdict, str]  # with severity
    unknown: dict[Verdict, str]  # with the reason
    trouble: dict[str, str] = field(default_factory=dict)  # rules that did not run

    def missed(self) -> set[Verdict]:
        """Declared as a finding, and not found."""
        return set(self.trial.declared().fails - self.fails.keys())

    def extra(self) -> set[Verdict]:
        """Found, and not declared."""
        return set(self.fails.keys() - self.trial.declared().fails)

    def differences(self) -> list[str]:
        """Everything that is not as declared, in words."""
        declared = self.trial.declared()
        said = [f"not found: {r} {s}" for r, s in sorted(self.missed())]
        said += [f"not declared: {r} {s}" for r, s in sorted(self.extra())]
        unknown = self.unknown.keys()
        said += [f"not unknown: {r} {s}" for r, s in sorted(declared.unknown - unknown)]
        said += [
            f"unknown: {r} {s} ({self.unknown[r, s]})"
            for r, s in sorted(unknown - declared.unknown)
        ]
        said += [f"not run: {rule}: {words}" for rule, words in self.trouble.items()]
        for one in self.trial.injections:
            for verdict in sorted(one.expected & self.fails.keys()):
                found = self.fails[verdict]
                if one.fault.severity and found != one.fault.severity:
                    words = f"{' '.join(verdict)}: {found}, declared {one.fault.severity}"
                    said.append(words)
        return said


def judge(reader: Reader, trial: Trial, rules: Sequence[str] = ()) -> Outcome:
    """Read the fleet twice, an hour apart, and run the rules."""
    now, before = [], []
    healthy = trial.hosts()
    for host in healthy:
        mine = [one for one in trial.injections if one.place.host.name == host.name]
        before.append(earlier(host, mine))
        for one in mine:
            host = one.changed(host)  # noqa: PLW2901
        now.append(host)
    names = [host.name for host in healthy]
    said = dict(zip(names, reader.read(now), strict=True))
    changed = {name: host for name, host in zip(names, before, strict=True) if host is not None}
    otherwise = dict(zip(changed, reader.read(changed.values()), strict=True))
    with TemporaryDirectory(prefix="railwright-faults-", dir="/dev/shm") as name:
        folder = Path(name)
        second = snapshot_of(folder / "now", said)
        first = earlier_snapshot(folder / "before", second, APART_S, otherwise)
        site = site_text(trial.model, trial.site)
        return Outcome(trial, *verdicts_of(second, site, rules, before=first))


def verdicts_of(
    now: Snapshot, site_file: str, rules: Sequence[str] = (), *, before: Snapshot | None = None
) -> tuple[dict[Verdict, str], dict[Verdict, str], dict[str, str]]:
    """What failed with its severity, what is unknown and why, and which rules did not run."""
    site = read_site(site_file, "site.toml")
    with checked(now, chosen(Choice(tuple(rules)), site), site, [], before=before) as findings:
        rows = findings.database.execute(
            "SELECT rule, subject, verdict, severity, why FROM finding"
        ).fetchall()
        trouble = {one.rule: one.trouble for one in findings.accounts() if one.trouble}
    fails = {
        (rule, subject): grade for rule, subject, verdict, grade, _ in rows if verdict == "fail"
    }
    unknown = {(rule, subject): why for rule, subject, verdict, _, why in rows if verdict != "fail"}
    return fails, unknown, trouble
