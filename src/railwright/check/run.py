"""facts + intent -> findings, from one end to the other."""

import re
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from railwright.check.engine import RULE_SECONDS, Ran, Request, run
from railwright.check.findings import Findings
from railwright.check.pack import load_pack
from railwright.check.rule import SEVERITIES, Rule, by_name, shipped
from railwright.check.waivers import Waiver
from railwright.errors import UsageError
from railwright.intent.site import Site
from railwright.intent.write import write_intent
from railwright.store.snapshot import Snapshot

# PCI-02, as rules were called in the first releases.
_OLD_NAME = re.compile(r"[A-Za-z0-9]+-[0-9]+")
FEWEST_LETTERS = 3  # of a prefix that may end within a word
NO_BASELINE = "not run (no baseline)"


@dataclass(frozen=True)
class Choice:
    """Which rules are to be run."""

    select: tuple[str, ...] = ()  # ids, topics, patterns; () = all that are on by default
    ignore: tuple[str, ...] = ()
    severity: str = "info"  # those that can give this one or a worse
    packs: tuple[Path, ...] = ()


def _matches(rule: Rule, patterns: tuple[str, ...]) -> bool:
    names = [name.lower() for name in (*rule.names, rule.topic)]
    return any(fnmatchcase(name, one) for name in names for one in patterns)


def _patterns(given: tuple[str, ...], rules: dict[str, Rule]) -> tuple[str, ...]:
    """What was given, in small letters; what names nothing by itself counts as a prefix.

    `PCI` is the topic pcie and every PCI-01, PCI-02 …, but `gpu` is a topic and not gpudirect too.
    """
    found: list[str] = []
    for one in map(str.lower, given):
        if _any(rules, one):
            found.append(one)
            continue
        longer = [f"{one}*" if len(one) >= FEWEST_LETTERS else f"{one}[-.]*"]
        found += longer if _any(rules, longer[0]) else [one]
    return tuple(found)


def _near(name: str, names: dict[str, str]) -> list[str]:
    close = get_close_matches(name.lower(), sorted(names), n=3)
    return list(dict.fromkeys(names[one] for one in close))


def no_rule(name: str, rules: dict[str, Rule]) -> UsageError:
    """Nothing is called so; what was meant is said where that can be guessed."""
    names = {one.lower(): one for rule in rules.values() for one in (rule.id, rule.topic)}
    if _OLD_NAME.fullmatch(name):
        old = {one.lower(): (one, rule.id) for rule in rules.values() for one in rule.aliases}
        names = {low: f"{one} ({now})" for low, (one, now) in old.items()}
    near = _near(name, names)
    return UsageError(
        f"unknown rule or topic {name!r}",
        do=f"Did you mean {' or '.join(near)}?" if near else "railwright rules lists them.",
    )


def chosen(choice: Choice, site: Site) -> dict[str, Rule]:
    """The rules to run, with the site's own thresholds."""
    everything = dict(shipped())
    for folder in choice.packs:
        everything |= load_pack(folder)
    select, ignore = (_patterns(given, everything) for given in (choice.select, choice.ignore))
    for given, pattern in zip(choice.select + choice.ignore, select + ignore, strict=True):
        if not _any(everything, pattern):
            raise no_rule(given, everything)
    if select:
        found = {i: r for i, r in everything.items() if _matches(r, select)}
    else:
        found = {i: r for i, r in everything.items() if not r.preview}
    worst = SEVERITIES.index(choice.severity)
    kept = {
        i: rule
        for i, rule in found.items()
        if not _matches(rule, ignore) and SEVERITIES.index(rule.severity) <= worst
    }
    return with_thresholds(kept, site)


def with_thresholds(rules: dict[str, Rule], site: Site) -> dict[str, Rule]:
    """The same rules with the numbers that the site gives them."""
    return {name: _with_thresholds(rule, site) for name, rule in rules.items()}


def _any(rules: dict[str, Rule], pattern: str) -> bool:
    return any(_matches(rule, (pattern,)) for rule in rules.values())


def _with_thresholds(rule: Rule, site: Site) -> Rule:
    given = {k: v for name in rule.names for k, v in site.parameters.get(name, {}).items()}
    if not given:
        return rule
    known = {parameter.name for parameter in rule.parameters}
    if set(given) - known:
        raise UsageError(
            f"site file: unknown parameter {min(set(given) - known)!r} of {rule.id}",
            do=f"Parameters of {rule.id}: {', '.join(sorted(known)) or 'none'}.",
        )
    changed = (replace(p, default=given.get(p.name, p.default)) for p in rule.parameters)
    return replace(rule, parameters=tuple(changed))


@contextmanager
def checked(  # noqa: PLR0913
    snapshot: Snapshot,
    rules: dict[str, Rule],
    site: Site,
    waivers: list[Waiver],
    *,
    before: Snapshot | None = None,
    severity: str = "info",
    today: date | None = None,
    seconds: float = RULE_SECONDS,
    each: bool = False,
    named: Iterable[str] = (),
    on: Collection[str] = (),
) -> Iterator[Findings]:
    """Run them; the findings live as long as the block.

    With `each` every subject has its verdict, of the `named` machines all theirs.
    Rules run over all machines; `on` some, only findings there and on links to them are kept.
    """
    with tempfile.TemporaryDirectory(prefix="railwright-check-") as name:
        folder = Path(name)
        for one in (snapshot, before):
            if one is not None:
                one.files()  # what rules read in a process apart is looked at here
        facts = snapshot.facts
        write_intent(site, facts, folder / "intent")
        runnable = tuple(r for r in rules.values() if before is not None or not r.baseline)
        request = Request(
            runnable,
            facts,
            folder / "intent",
            folder / "out",
            before.facts if before else None,
            seconds,
            each,
            frozenset(named),
        )
        ran = run(request)
        ran += [
            Ran(r.id, 0.0, NO_BASELINE, is_skipped=True)
            for r in rules.values()
            if r not in runnable
        ]
        findings = Findings(snapshot, rules, ran, folder / "out", folder / "intent")
        findings.never_touch = site.never_touch
        names = by_name([*shipped().values(), *rules.values()])
        decided = [replace(one, rule=names.get(one.rule, one.rule)) for one in waivers]
        findings.settle(decided, today or date.today(), severity, on)
        with findings.database:
            yield findings
