"""What somebody has decided to live with: waived findings and accepted gaps, each for a while.

[[waive]]                       a finding that is known and stays
rule = "pcie-link-narrow"
subjects = ["gpu017:0000:18:00.0", "gpu[020-023]"]
reason = "board wired x8, replacement in January"
owner = "kim"
expires = 2027-01-31

[[accept_gap]]                  something that cannot be read there, and that is known too
rule = "*"
…

[[accept_gap]]                  something that a system of switches does not report: it ends by
system = "eos"                  itself with the release that reads it, and needs no date
fact = "headroom"
reason = "EOS sizes it by itself"
owner = "kim"
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from railwright.errors import UsageError, reason_of
from railwright.node_sets import unfold
from railwright.schema.system import facts, systems
from railwright.toml import load_toml, toml_text

KINDS = {"waive": "fail", "accept_gap": "unknown"}
_KEYS = ("rule", "subjects", "reason", "owner", "expires")
# Of a fact that a system does not report: rule and subjects may narrow it down.
_FACT_KEYS = ("system", "fact", "reason", "owner")


@dataclass(frozen=True)
class Waiver:
    """One decision."""

    verdict: str  # fail: waived; unknown: an accepted gap
    rule: str  # an id, or `*`
    subjects: tuple[str, ...]  # as written
    reason: str
    owner: str
    expires: date | None  # None = it has no end of its own
    system: str = ""  # with a fact: only where that system does not report it
    fact: str = ""

    def prefixes(self) -> list[tuple[str, str]]:
        """(machine, beginning of the subject) of everything it covers; '*' = any machine."""
        found = []
        for subject in self.subjects:
            nodes, colon, rest = subject.partition(":")
            names = ["*"] if nodes == "*" else unfold(nodes)
            found += [(name, f"{name}{colon}{rest}" if name != "*" else rest) for name in names]
        return found

    def is_expired(self, today: date) -> bool:
        """The last day still counts."""
        return self.expires is not None and self.expires < today

    @property
    def until(self) -> str:
        """The last day, for people."""
        return self.expires.isoformat() if self.expires else f"{self.system} reports {self.fact}"


def _waiver(name: str, where: str, kind: str, data: object) -> Waiver:
    def wrong(what: str) -> UsageError:
        return UsageError(
            f"{name}: {where} {what}",
            why="Every waiver needs a reason, an owner and an end.",
            do="To write one: railwright waive RULE SUBJECT --reason … --owner … --expires DATE",
        )

    if not isinstance(data, dict):
        raise wrong("must be a table")
    is_of_fact = kind == "accept_gap" and ("fact" in data or "system" in data)
    needed = _FACT_KEYS if is_of_fact else _KEYS
    unknown = [key for key in data if key not in {*needed, *_KEYS}]
    missing = [key for key in needed if not data.get(key)]
    if unknown or missing:
        raise wrong(
            f"has unknown keys: {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        )
    expires = data.get("expires")
    if type(expires) is not date and not (is_of_fact and expires is None):
        raise wrong("must have a date in expires, e.g. 2027-01-31")
    subjects = data.get("subjects", ["*"])
    if not isinstance(subjects, list) or not all(isinstance(one, str) for one in subjects):
        raise wrong("must have a list of strings in subjects")
    texts = {key: str(data[key]) for key in (*_FACT_KEYS, "rule") if key in data}
    if is_of_fact:
        _check_fact(name, where, texts["system"], texts["fact"])
    texts.setdefault("rule", "*")
    return Waiver(KINDS[kind], subjects=tuple(subjects), expires=expires, **texts)


def _check_fact(name: str, where: str, system: str, fact: str) -> None:
    """A name that is not known would cover nothing, and nobody would see that."""
    for given, known, kind in ((system, systems(), "system"), (fact, facts(), "fact")):
        if given not in known:
            raise UsageError(
                f"{name}: {where}: unknown {kind} {given!r}",
                do=f"Choose one of {', '.join(known)}.",
            )


def read_waivers(text: str, name: str) -> list[Waiver]:
    """All decisions of a file; one that is not whole is refused."""
    data = load_toml(text, name)
    unknown = [key for key in data if key not in KINDS]
    if unknown:
        raise UsageError(
            f"{name}: unknown key {unknown[0]!r}", do=f"Choose one of {', '.join(KINDS)}."
        )
    found = []
    for kind in KINDS:
        entries = data.get(kind, [])
        if not isinstance(entries, list):
            raise UsageError(f"{name}: write [[{kind}]], with two brackets")
        found += [
            _waiver(name, f"[[{kind}]] {number}", kind, entry)
            for number, entry in enumerate(entries, 1)
        ]
    return found


def load_waivers(path: Path | None) -> list[Waiver]:
    """A waiver file; none where none is given."""
    if path is None:
        return []
    try:
        return read_waivers(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the waiver file {path}: {reason_of(error)}",
            do="Name another with --waivers. To write one: railwright waive",
        ) from error


def append_waiver(path: Path, waiver: Waiver) -> None:
    """Add one decision to a file, behind what is there; what would not be read again is refused."""
    said: dict[str, object] = {"rule": waiver.rule, "subjects": list(waiver.subjects)}
    if waiver.fact:
        narrowed = waiver.rule != "*" or waiver.subjects != ("*",)
        said = {"system": waiver.system, "fact": waiver.fact} | (said if narrowed else {})
    said |= {"reason": waiver.reason, "owner": waiver.owner}
    text = f"[[{next(kind for kind, verdict in KINDS.items() if verdict == waiver.verdict)}]]\n"
    text += "".join(f"{key} = {toml_text(value)}\n" for key, value in said.items())
    text += f"expires = {waiver.expires.isoformat()}\n" if waiver.expires else ""
    for one in read_waivers(text, "the waiver"):
        one.prefixes()
    load_waivers(path if path.is_file() else None)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(("\n" if path.stat().st_size else "") + text)
    except OSError as error:
        raise UsageError(f"cannot write the waiver file {path}: {error.strerror}") from error
