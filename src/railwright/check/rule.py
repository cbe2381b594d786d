"""A rule is one SQL file: a TOML header and Markdown in one comment, then one SELECT.

The SELECT gives one row for every subject in scope, good or bad: the key columns of its subject
kind, then `observed`, `expected`, `applies`, `fault`, and if it likes `detail`, `inferred`,
`cost_gbps`, `severity`, `unread_facts`, `reason` and `classes`. `fault` is true, false or NULL, and
NULL is unknown. Beside the file lie its cases.
"""

import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from string import Formatter
from typing import cast

from railwright.check.disturbance import disturbed, wrong_disturbance
from railwright.check.remedy import wrong_remedy
from railwright.errors import RuleError
from railwright.schema.subjects import Subject, subjects
from railwright.toml import load_toml

SHIPPED = Path(__file__).parent.parent / "rules"
SEVERITIES = ("blocker", "high", "medium", "low", "info")
VERDICTS = ("fail", "unknown", "not applicable", "ok")
AGREED = ("observed", "expected", "applies", "fault")
# Beside the agreed ones: free words; whether the subject's role was only inferred (which caps the
# severity); what the fault costs at this subject; how bad it is there, one of the header's grades;
# facts of schema/system.toml, joined by commas: that they were not read is all that
# makes this verdict unknown.
# Why it is unknown although all was read, one of REASONS. Which traffic classes it is about, joined
# by commas, where it is not all of them.
OPTIONAL = {
    "detail": "VARCHAR",
    "inferred": "BOOLEAN",
    "cost_gbps": "DOUBLE",
    "severity": "VARCHAR",
    "unread_facts": "VARCHAR",
    "reason": "VARCHAR",
    "classes": "VARCHAR",
}
# Why a rule cannot tell where everything it needs was read: the words are printed.
REASONS = {
    "no_reference": "no reference for its inventory",
    "not_collected": "the site has it, the snapshot does not",
    "unconfirmed": "the class is an unconfirmed proposal",
    "split": "hosts of its class differ, and none of the builds is most of them",
    "renamed": "like parts sit below root bridges of other names than are expected",
    "port_down": "the port is down",
    "sources_differ": "driver and firmware differ on the rate",
    "readings_differ": "ethtool and mlxlink differ on the temperature",
    "implausible": "no module has such a temperature",
    "few_peers": "its peers are too few to say who is right",
    "dma_buf_untried": "an older kernel or RDMA stack: only registering memory would show dma-buf",
    "partner_silent": "the machine that the plan has there did not answer",
    "elsewhere": "a pod, a guest or the DPU may have the devices",
}
ANY = "*"  # in implied_by: whatever else was found there
MESSAGE_NAMES = ("subject", "observed", "expected")
LARGEST_FILE = 1 << 20
_REMEDY = ("action", "setting", "disturbs", "fix")
_TEXTS = ("id", "title", "severity", "message", "since", "cost", *_REMEDY)
_LISTS = ("aliases", "needs", "sources", "covers", "implied_by")
_SWITCHES = ("preview", "baseline", "peers", "both_ends", "several")
HEADINGS = ("Why it matters", "What to do", "Exceptions")

_FILE = re.compile(r"\s*/\* \+\+\+\n(.*?)\n\+\+\+\n(.*?)\*/\s*(.*)", re.DOTALL)
# A name says what is wrong. The other form is that of the first releases, and resolves for ever.
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_OLD_NAME = re.compile(r"[A-Z][A-Z0-9]{0,11}-[0-9]{2,4}|INTENT\.[a-z][a-z0-9_]*")
LONGEST_NAME = 32
_NEED = re.compile(r"(?:before\.)?[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Parameter:
    """A threshold: its value, its unit and why it is that."""

    name: str
    default: float | int | str
    unit: str
    reason: str


# What a column that may be missing is read for. Only of the last can a verdict be unknown for it.
PURPOSES = {
    "severity": "caps the severity",
    "words": "only for the words",
    "cost": "only for the cost",
    "verdict": "",
}


@dataclass(frozen=True)
class Use:
    """A column that a rule reads and that may be missing."""

    purpose: str  # one of PURPOSES
    why: str  # why it may be missing

    def __str__(self) -> str:
        """For people."""
        return ": ".join(filter(None, (PURPOSES[self.purpose], self.why)))


# RoCE data of the site, the notifications that answer its marks, and any other large packet.
PACKETS = ("data", "CNP", "other", "InfiniBand")
SIDES = ("in", "out")


@dataclass(frozen=True)
class OnPath:
    """A fault that a packet meets on its way: `railwright path` tells of it there."""

    packets: tuple[str, ...]  # of PACKETS
    sides: tuple[str, ...]  # of SIDES: where packets come in, and where they go out


@dataclass(frozen=True)
class Rule:
    """One rule as its file says it."""

    id: str
    title: str
    severity: str  # the worst it can give
    subject: Subject
    needs: tuple[str, ...]  # table.column: any of them not read makes the verdict unknown
    message: str  # with {subject}, {observed}, {expected}
    sources: tuple[str, ...]
    since: str
    sql: str
    why: str  # the three parts of its Markdown
    do: str
    wrong: str
    path: Path
    topic: str
    aliases: tuple[str, ...] = ()  # what it was called before, the first name first
    uses: dict[str, Use] = field(default_factory=dict)  # read too -> why it may be missing
    unless: dict[str, str] = field(default_factory=dict)  # need -> when it is not asked for
    covers: tuple[str, ...] = ()  # the ids of the catalogue that it decides beside its own
    implied_by: tuple[str, ...] = ()  # rules whose finding there explains this one; * = any other
    action: str = "ask"  # one of ACTIONS
    setting: str = ""
    disturbs: str = ""  # one of DISTURBANCES; where its file has none, what its setting says
    fix: str = ""  # the command of its text that puts right what it finds
    cost: str = ""  # of a published case, with its source
    preview: bool = False  # off by default
    baseline: bool = False  # needs a second snapshot
    peers: bool = False  # its verdict on one machine depends on others
    both_ends: bool = False  # it judges a link: what is found at either end may explain it
    several: bool = False  # rows per subject, of which the worst counts
    parameters: tuple[Parameter, ...] = ()
    grades: dict[str, str] = field(default_factory=dict)  # severity -> when; {} = always the same
    on_path: OnPath | None = None  # None = no packet fares worse for it

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it may be called by."""
        return (self.id, *self.aliases)

    @property
    def first_name(self) -> str:
        """What it was called when it came: what is written down elsewhere for ever goes by this."""
        return self.aliases[0] if self.aliases else self.id

    @property
    def cases_path(self) -> Path:
        """Where its cases are."""
        return self.path.with_suffix(".cases.yaml")

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns it gives beside the agreed ones; lint holds this to what the SELECT gives."""
        last = re.split(r"^select\b", self.sql, flags=re.IGNORECASE | re.MULTILINE)[-1]
        ends = set(re.findall(r"(\w+),?[ \t]*(?:--.*)?$", last, flags=re.MULTILINE))
        return tuple(name for name in OPTIONAL if name in ends)

    @property
    def severities(self) -> tuple[str, ...]:
        """Every severity that it can give, the worst first."""
        return tuple(one for one in SEVERITIES if one in self.grades) or (self.severity,)

    def said(self, observed: str | None, expected: str | None) -> str:
        """Its message without the subject, which stands elsewhere."""
        bare = self.message.replace("{subject}: ", "").replace("{subject} ", "")
        return bare.format(
            subject="it",
            observed="not read" if observed is None else observed or "''",
            expected="?" if expected is None else expected or "''",
        )

    def tables(self) -> list[str]:
        """The fact tables it needs."""
        return sorted({need.rpartition(".")[0].removeprefix("before.") for need in self.needs})


def _texts(data: dict[str, object], key: str, path: Path) -> tuple[str, ...]:
    found = data.pop(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise RuleError(f"{path}: {key} must be a list of strings")
    return tuple(found)


def _reasons(data: dict[str, object], key: str, form: str, path: Path) -> dict[str, str]:
    found = data.pop(key, {})
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise RuleError(f"{path}: {key} must be a table of {form}")
    return found


def _uses(data: dict[str, object], path: Path) -> dict[str, Use]:
    """`column = "why"` for what the verdict may rest on, else `{purpose = "words", why = …}`."""
    raw = data.pop("uses", {})
    found = {}
    for column, said in raw.items() if isinstance(raw, dict) else [("", None)]:
        use = {"purpose": "verdict", "why": said} if isinstance(said, str) else said
        if (
            not isinstance(use, dict)
            or not set(use) <= {"purpose", "why"}
            or use.get("purpose") not in PURPOSES
            or (use["purpose"] == "verdict" and not use.get("why"))
        ):
            raise RuleError(
                f"{path}: uses must be a table of table.column = why it may be missing, "
                f"or {{purpose = …}} with one of {', '.join(PURPOSES)}"
            )
        found[column] = Use(str(use["purpose"]), str(use.get("why", "")))
    return found


def _sections(markdown: str, path: Path) -> tuple[str, str, str]:
    parts = re.split(r"^## (.+)$", markdown, flags=re.MULTILINE)
    names, texts = [part.strip() for part in parts[1::2]], [part.strip() for part in parts[2::2]]
    if tuple(names) != HEADINGS or not all(texts):
        raise RuleError(f"{path}: its text must have the headings {', '.join(HEADINGS)}")
    return cast("tuple[str, str, str]", tuple(texts))


def _parameters(raw: object, path: Path) -> tuple[Parameter, ...]:
    if not isinstance(raw, dict):
        raise RuleError(f"{path}: parameters must be tables")
    found = []
    for name, data in raw.items():
        if not isinstance(data, dict) or set(data) != {"default", "unit", "reason"}:
            raise RuleError(f"{path}: parameter {name} must have default, unit and reason")
        found.append(Parameter(name, **data))
    return tuple(found)


def _on_path(data: dict[str, object], path: Path) -> OnPath | None:
    raw = data.pop("on_path", None)
    if raw is None:
        return None
    if isinstance(raw, dict) and set(raw) == {"packets", "sides"}:
        found = OnPath(_texts(raw, "packets", path), _texts(raw, "sides", path))
        if set(PACKETS).issuperset(found.packets) and set(SIDES).issuperset(found.sides):
            return found
    raise RuleError(
        f"{path}: on_path must have packets ({', '.join(PACKETS)}) and sides ({', '.join(SIDES)})"
    )


def _wrong_grades(rule: Rule) -> Iterator[str]:
    odd = [grade for grade in rule.grades if grade not in SEVERITIES]
    if odd:
        yield f"unknown grade {odd[0]!r}; choose one of {', '.join(SEVERITIES)}"
    elif rule.grades and (len(rule.grades) == 1 or rule.severities[0] != rule.severity):
        yield "grades must be two or more, and severity the worst of them"


def _wrong_links(rule: Rule) -> Iterator[str]:
    if ANY in rule.implied_by and rule.implied_by != (ANY,):
        yield "implied_by must name either rules or * alone"
    if rule.both_ends and rule.subject.kind != "end":
        yield "both_ends is only for rules with the subject end"


def _checked(rule: Rule) -> Rule:
    """What a header alone can have wrong."""
    wrong = [*_wrong_links(rule)]
    odd = [one for one in rule.names if not _is_name(one)]
    if odd:
        wrong.append(
            f"{odd[0]!r} is not a rule name: use small letters and hyphens, e.g. pcie-link-narrow"
        )
    if rule.severity not in SEVERITIES:
        wrong.append(f"unknown severity {rule.severity!r}; choose one of {', '.join(SEVERITIES)}")
    wrong += [*_wrong_grades(rule), *wrong_remedy(rule.action, rule.setting, rule.fix, rule.do)]
    wrong += wrong_disturbance(rule.setting, rule.disturbs)
    if set(rule.unless) - set(rule.needs):
        wrong.append("unless names a column that is not in needs")
    if not rule.sources:
        wrong.append("sources is empty (for a judgement write 'judgement: …')")
    if not rule.needs:
        wrong.append("needs is empty: the rule could never decide")
    bad = [need for need in (*rule.needs, *rule.uses) if not _NEED.fullmatch(need)]
    if bad:
        wrong.append(f"not of the form table.column: {', '.join(bad)}")
    if not _is_plain(rule.message):
        wrong.append("message may only name {subject}, {observed} and {expected}")
    if wrong:
        raise RuleError(f"{rule.path}: {'; '.join(wrong)}")
    return replace(rule, disturbs=rule.disturbs or disturbed(rule.action, rule.setting))


def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text) or _OLD_NAME.fullmatch(text)) and len(text) <= LONGEST_NAME


def _is_plain(message: str) -> bool:
    """Names in braces and nothing more: a width of 3,000,000,000 signs would be made, too."""
    try:
        fields = list(Formatter().parse(message))
    except ValueError:
        return False
    named = [
        (name, spec or "", conversion) for _, name, spec, conversion in fields if name is not None
    ]
    return all(one in [(name, "", None) for name in MESSAGE_NAMES] for one in named)


def _file_text(path: Path) -> str:
    """A rule's file; never one that has no end."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
            raise RuleError(f"{path} is not a rule file")
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"{path} cannot be read: {error}") from error


def load_rule(path: Path, folder: Path) -> Rule:
    """One file; says what is wrong with it."""
    text = _file_text(path)
    found = _FILE.fullmatch(text)
    if found is None:
        raise RuleError(f"{path} does not begin with a comment that contains a +++ header +++")
    data = load_toml(found[1], str(path))
    kind = str(data.pop("subject", ""))
    if kind not in subjects():
        raise RuleError(
            f"{path}: unknown subject kind {kind!r}; choose one of {', '.join(subjects())}"
        )
    subject = subjects()[kind]
    if "enumerated_by" in data:  # the subjects of this rule are known by another probe's answer
        subject = replace(subject, probe=str(data.pop("enumerated_by")))
    why, do, wrong = _sections(found[2], path)
    lists = {k: _texts(data, k, path) for k in _LISTS}
    parameters = _parameters(data.pop("parameters", {}), path)
    plain: dict[str, object] = {"sql": found[3].strip().rstrip(";"), "path": path}
    plain |= {"why": why, "do": do, "wrong": wrong, "parameters": parameters}
    plain["uses"] = _uses(data, path)
    plain["unless"] = _reasons(data, "unless", "table.column = when it is not asked for", path)
    plain["grades"] = _reasons(data, "grades", "severity = when it is that", path)
    plain["on_path"] = _on_path(data, path)
    plain["topic"] = path.parent.relative_to(folder).as_posix()
    odd = [k for k in _TEXTS if k in data and not isinstance(data[k], str)]
    odd += [k for k in _SWITCHES if k in data and not isinstance(data[k], bool)]
    if odd:
        raise RuleError(
            f"{path}: {odd[0]} must be {'a string' if odd[0] in _TEXTS else 'true or false'}"
        )
    try:
        rule = Rule(subject=subject, **lists, **plain, **data)  # type: ignore[arg-type]
    except TypeError as error:
        raise RuleError(f"{path}: {str(error).rpartition('Rule.')[2]}") from error
    return _checked(rule)


def load_folder(folder: Path) -> Iterator[Rule]:
    """All rules below a folder, in order."""
    for path in sorted(folder.rglob("*.sql")):
        yield load_rule(path, folder)


@cache
def shipped() -> dict[str, Rule]:
    """The catalogue by id."""
    return by_id(load_folder(SHIPPED))


def by_id(rules: Iterator[Rule]) -> dict[str, Rule]:
    """Rules by id; a name belongs to one rule, now and for ever."""
    found: dict[str, Rule] = {}
    taken: dict[str, Path] = {}
    for rule in rules:
        for name in rule.names:
            if name in taken:
                raise RuleError(f"{rule.path}: the name {name!r} is already used by {taken[name]}")
            taken[name] = rule.path
        found[rule.id] = rule
    return dict(sorted(found.items()))


def by_name(rules: Iterable[Rule]) -> dict[str, str]:
    """Every name that these rules have or had -> what the rule is called now."""
    return {name: rule.id for rule in rules for name in rule.names}
