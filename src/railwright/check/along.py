"""What rules say of the ends that a packet meets on its way."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from railwright.check.findings import Findings
from railwright.check.rule import Rule, shipped
from railwright.check.run import checked, with_thresholds
from railwright.check.waivers import Waiver
from railwright.fabric.hop import Remark
from railwright.fabric.packet import as_sent
from railwright.fabric.trace import Told, Trace, Way, trace, ways
from railwright.intent.site import Site
from railwright.store.duck import read_sql
from railwright.store.snapshot import Snapshot

_OF_ENDS = read_sql(__file__, "told_of_ends.sql")
# What a host does with the CNPs that it gets.
_IN_NO_SETTING = ("CNP", "host", "in")


class Said(NamedTuple):
    """What one rule says of one end."""

    rule: str
    subject: str
    verdict: str
    state: str
    severity: str
    observed: str | None
    expected: str | None
    why: str
    classes: str | None
    members: list[str] | None  # of a bond; empty or None = all of them

    def is_at(self, port: str) -> bool:
        """Whether it is about this member of the bond."""
        return not self.members or port in self.members

    def is_about(self, classes: frozenset[int]) -> bool:
        """Whether a packet of these classes has to do with it; what is not known may be so."""
        if not classes or self.classes is None:
            return True
        return not classes.isdisjoint(map(int, self.classes.split(",")))

    def is_told_as(self, failed: set[str], rule: Rule) -> bool:
        """Whether it follows from another fault there that such packets may meet."""
        return self.state == "implied" and not failed.isdisjoint(rule.implied_by)

    def remark(self, rule: Rule) -> Remark | None:
        """What a packet meets there; None = nothing that would be held against its way."""
        # A machine that is out of service is on this way all the same.
        if self.state not in ("open", "implied", "out of service") or self.severity == "info":
            return None
        if self.verdict == "fail":
            said = rule.said(self.observed, self.expected)
            return Remark(is_broken=True, what=f"{self.rule}: {said}", rule=self.rule)
        return Remark(is_broken=False, what=f"{self.rule}: {self.why}", rule=self.rule)


def rules_on_path() -> dict[str, Rule]:
    """The rules about what a packet meets."""
    return {name: rule for name, rule in shipped().items() if rule.on_path and not rule.preview}


def traces(
    snapshot: Snapshot,
    site: Site,
    waivers: list[Waiver],
    ends: tuple[str, str],
    dscp: int | None,
) -> list[Trace]:
    """Data from one end to another and the CNP that comes back, judged."""
    with snapshot.database() as database:
        found = list(ways(database, site, *ends, dscp))
    return judged_ways(snapshot, site, waivers, [found])[0]


def judged_ways(
    snapshot: Snapshot, site: Site, waivers: list[Waiver], pairs: list[list[Way]]
) -> list[list[Trace]]:
    """The ways of several pairs; rules run once for all that are judged by the same DSCP."""
    wanted = [as_sent(site, *(way.packet for way in found)) for found in pairs]
    rules = with_thresholds(rules_on_path(), site)
    judged: list[list[Trace]] = [[] for _ in pairs]
    while left := [number for number, done in enumerate(judged) if not done and pairs[number]]:
        alike = [number for number in left if wanted[number] == wanted[left[0]]]
        named = {met.end.target for n in alike for way in pairs[n] for met in way.ends()}
        with checked(snapshot, rules, wanted[left[0]], waivers, named=named) as findings:
            for number in alike:
                judged[number] = [
                    trace(findings.database, way.walk, way.packet, told_along(findings, way))
                    for way in pairs[number]
                ]
    return judged


def told_along(findings: Findings, way: Way) -> Told:
    """Every end on the way, with what is wrong there for such packets and what nobody can tell."""
    rules = {
        name: rule
        for name, rule in findings.rules.items()
        if rule.on_path and way.packet.kind in rule.on_path.packets
    }
    said = _said(findings, (subject for met in way.ends() for subject in met.end.subjects))
    told: dict[tuple[str, str, str], tuple[Remark, ...]] = {}
    for end, side, classes in way.ends():
        asked = [
            name for name, rule in rules.items() if rule.on_path and side in rule.on_path.sides
        ]
        here = [one for s in end.subjects for one in said[s] if one.rule in rules]
        judged = [one for one in here if one.rule in asked]
        told_as = {one.rule for one in here if one.verdict == "fail" and one.severity != "info"}
        about = [
            one
            for one in judged
            if one.is_at(end.port)
            and one.is_about(classes)
            and not one.is_told_as(told_as, rules[one.rule])
        ]
        found = [r for one in about if (r := one.remark(rules[one.rule])) is not None]
        if not judged and (way.packet.kind, end.kind, side) != _IN_NO_SETTING:
            found.append(Remark(is_broken=False, what="no rule has anything to say of this port"))
        told[end.target, end.port, side] = tuple(found)
    stopped = [
        Remark(is_broken=False, what=f"{one.rule} could not be run: {one.trouble}", rule=one.rule)
        for one in findings.stopped()
        if one.rule in rules
    ]
    first = (way.walk.source.target, way.walk.source.port, "out")
    return {**told, first: (*told[first], *stopped)}


def _said(findings: Findings, subjects: Iterable[str]) -> dict[str, list[Said]]:
    found: dict[str, list[Said]] = defaultdict(list)
    rows = findings.database.execute(_OF_ENDS, {"subjects": sorted(set(subjects))}).fetchall()
    for row in rows:
        found[row[1]].append(Said(*row))
    return found
