"""Statements that the verbs make about one snapshot, each derived from what a verb itself prints.

A statement is (kind, subject) -> value. Two verbs that state the same thing must give the same
value; what a verb does not know it says with UNKNOWN, which agrees with UNKNOWN alone. KINDS lists
by hand what is compared, and who states it.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from railwright.cli import program
from railwright.errors import NotReadError

UNKNOWN = "unknown"
Key = tuple[str, str]  # kind, subject
Statements = dict[Key, Any]

KINDS = {
    "exit status of the findings": "check in each format, as its list has it",
    "exit status of links": "links, and what its list has",
    "exit status of a path": "path, and what its hops have",
    "exit status of the hops": "path without ends, and what its classes have",
    "exit status of rails": "rails, and what it marks",
    "exit status of ceilings": "predict, and what its list leaves open",
    "findings in total": "check in JSON, JUnit, SARIF and Markdown",
    "rules that find something on a link": "check at both ends, links",
    "rules that cannot tell of a link": "check at both ends, links",
    "rule that breaks a way": "path at an end, check there",
    "rule that leaves a way open": "path at an end, check there",
    "rules that find something in a class of ports": "path without ends, check at its ports",
    "misplaced port": "rails, check by cable-wrong-rail, cable-wrong-plane and cable-unlike-peers",
    "verdict": "check, explain",
    "observed": "check, explain",
    "expected": "check, explain",
    "severity": "check, explain",
    "what was not reached": "check, facts, show",
    "host that was not read": "path, check",
    "MTU of an end": "show, path, path without ends",
    "speed of an end": "show, path, links, path without ends",
    "error correction of an end": "show, path, path without ends",
    "trust of an end": "show, path, path without ends",
    "PFC of an end": "show, path without ends",
    "whether a link is down": "show, links",
    "machine at the other end": "show, links",
    "role of a port": "show, predict",
    "rate of a port": "show, predict",
    "relation of a port to its GPU": "show, predict",
    "what this PCIe path carries": "check by pcie-below-port-rate, predict",
    "compute ports": "rails, predict, facts, the head of check",
    "compute ports of each rail": "rails, predict",
}


_RANGE = re.compile(r"\[([^\]]*)\]")


def unfolded(text: str) -> list[str]:
    """Ethernet[0,4-5],swp1 -> its four ports. Names of ports have slashes, unlike those of hosts."""
    found = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        match = _RANGE.search(part)
        if match is None:
            found.append(part.strip())
            continue
        for one in match[1].split(","):
            first, _, last = one.partition("-")
            for number in (
                range(int(first), int(last or first) + 1) if first.isdecimal() else (one,)
            ):
                found += unfolded(part[: match.start()] + str(number) + part[match.end() :])
    return found


class Said(NamedTuple):
    """What one verb printed."""

    text: str
    status: int

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found


def run(store: Path, *words: str) -> Said:
    done = CliRunner().invoke(program(), [*words, "--store", str(store)], env={"COLUMNS": "4000"})
    if isinstance(done.exception, NotReadError):
        return Said(done.stdout, done.exception.exit_code)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Said(done.stdout, done.exit_code)


class Book:
    """All statements, by who makes them."""

    def __init__(self) -> None:
        self.by: dict[Key, dict[str, Any]] = defaultdict(dict)
        self.links: dict[tuple[str, str], bool] = {}  # both ends: whether it is down
        self.down: dict[str, bool] = {}  # what ports say of themselves

    def say(self, who: str, kind: str, subject: str, value: Any) -> None:
        assert kind in KINDS, kind
        key = (kind, subject)
        known = self.by[key].get(who, value)
        # One who contradicts itself is told as well.
        self.by[key][who] = value if known == value else f"{known!r} and {value!r}"

    def differences(self) -> Iterator[str]:
        for (kind, subject), told in sorted(self.by.items()):
            if len({repr(value) for value in told.values()}) > 1:
                yield f"{kind}, {subject}: " + ", ".join(f"{w} {v!r}" for w, v in told.items())

    def compared(self) -> set[str]:
        return {kind for (kind, _), told in self.by.items() if len(told) > 1}


def status_of(found: int, unknown: int) -> int:
    """As the guide has it: 1 for findings, else 3 for what is not known, else 0."""
    return 1 if found else 3 if unknown else 0


class Check:
    """What check says, by subject."""

    def __init__(self, said: Said) -> None:
        self.data = said.data
        self.status = said.status
        self.found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.unknown: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in self.data["findings"]:
            self.found[one["subject"]].append(one)
        for one in self.data["inconclusive"]:
            self.unknown[one["subject"]].append(one)

    def open_findings(self) -> list[dict[str, Any]]:
        return [
            f for f in self.data["findings"] if f["state"] == "open" and f["severity"] != "info"
        ]

    def open_unknown(self) -> list[dict[str, Any]]:
        return [u for u in self.data["inconclusive"] if u["state"] == "open"]

    def rules_found(self, subjects: list[str], rules: set[str]) -> list[str]:
        told = {f["rule"] for f in self.open_findings() if f["subject"] in subjects}
        return sorted(told & rules)

    def rules_unknown(self, subjects: list[str], rules: set[str]) -> list[str]:
        machines = {f"{one.partition(':')[0]}:*" for one in subjects}
        told = {u["rule"] for u in self.open_unknown() if u["subject"] in {*subjects, *machines}}
        return sorted(told & rules)


FORMATS = ("text", "junit", "sarif", "markdown")


def of_check(book: Book, store: Path, formats: tuple[str, ...] = FORMATS) -> Check:
    check = Check(run(store, "check", "--format", "json"))
    expected = status_of(len(check.open_findings()), len(check.open_unknown()))
    book.say("its list", "exit status of the findings", "", expected)
    book.say("json", "exit status of the findings", "", check.status)
    listed = check.data["findings"]
    for one in listed:
        if one["rule"] == "pcie-below-port-rate":
            book.say("check", "what this PCIe path carries", one["subject"], one["observed"])
    book.say("json", "findings in total", "all", len(listed))
    stand = sum(1 for one in listed if one["state"] in ("open", "implied"))
    book.say("json", "findings in total", "open and implied", stand)
    for name in formats:
        said = run(store, "check", "--format", name)
        book.say(name, "exit status of the findings", "", said.status)
        if name == "text" and (
            head := re.search(r"^Checked: .* ([\d,]+) compute port", said.text, re.MULTILINE)
        ):
            book.say("check", "compute ports", "", int(head[1].replace(",", "")))
        if name == "junit":
            book.say(name, "findings in total", "open and implied", said.text.count("<failure"))
        if name == "sarif":
            (one_run,) = said.data["runs"]
            failed = sum(1 for one in one_run["results"] if one["kind"] == "fail")
            book.say(name, "findings in total", "all", failed)
    return check


# An end's other name: the RDMA port that it belongs to.
Names = Callable[[str], list[str]]


def of_links(book: Book, store: Path, check: Check, rules: set[str], names: Names) -> None:
    said = run(store, "links", "--json")
    links = said.data["links"]
    found = sum(1 for one in links if one["found"])
    unknown = sum(1 for one in links if one["unknown"] or one["trouble"] or one["is_unread"])
    planned = len(said.data["planned_but_not_read"])
    book.say("links", "exit status of links", "", said.status)
    book.say("its list", "exit status of links", "", status_of(found, unknown + planned))
    for one in links:
        subject = f"{one['a']} - {one['b']}"
        ends = [name for end in (one["a"], one["b"]) for name in names(end)]
        told = sorted({f["rule"] for f in one["found"]})
        book.say("links", "rules that find something on a link", subject, told)
        book.say(
            "check", "rules that find something on a link", subject, check.rules_found(ends, rules)
        )
        book.say("links", "rules that cannot tell of a link", subject, sorted(one["unknown"]))
        book.say(
            "check", "rules that cannot tell of a link", subject, check.rules_unknown(ends, rules)
        )
        if one["is_down"] is not None:
            book.links[one["a"], one["b"]] = one["is_down"]
        for end, other in ((one["a"], one["b"]), (one["b"], one["a"])):
            if not one["trouble"]:
                book.say(
                    "links",
                    "machine at the other end",
                    end,
                    _label(other),
                )
        if not one["b"]:
            continue
        # A link has the speed of both its ends, where they agree.
        speed = one["speed_mbps"]
        if not one["found"] and not one["trouble"]:
            book.say(
                "links",
                "speed of an end",
                one["a"],
                UNKNOWN if speed is None else f"{speed // 1000}G",
            )


_MTU = re.compile(r"MTU (\d+|not read)")
_SPEED = re.compile(r"(\d+G|speed not read) (none|fc|rs|FEC not read)")
_TRUST = re.compile(r"trust (\w+)")
_RULE = re.compile(r"^([a-z0-9]+(?:-[a-z0-9]+)+): ", re.MULTILINE)


def of_words(book: Book, who: str, end: str, does: list[str]) -> None:
    """What a hop does, in words: MTU 9216, 400G rs, trust dscp, DSCP 26 -> class 3."""
    text = "; ".join(does) + " "
    if match := _MTU.search(text):
        book.say(who, "MTU of an end", end, UNKNOWN if match[1] == "not read" else int(match[1]))
    if match := _SPEED.search(text):
        speed, fec = match.groups()
        book.say(who, "speed of an end", end, UNKNOWN if "not" in speed else speed)
        book.say(who, "error correction of an end", end, UNKNOWN if "not" in fec else fec)
    if match := _TRUST.search(text):
        book.say(who, "trust of an end", end, UNKNOWN if match[1] == "not" else match[1])


def _way(packet: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every end on a packet's way, and what was said of it; a switch as a whole has no name here."""
    yield packet["from"], packet["sender"]
    for hop in (hop for level in packet["hops"] for hop in level):
        yield "", {"does": [], "broken": hop["broken"], "unknown": hop["unknown"]}
        for group in (*hop["in"], *hop["out"]):
            for port in group["ports"]:
                yield port, group
    yield packet["to"], packet["receiver"]


def of_path(
    book: Book, store: Path, check: Check | None, ends: tuple[str, str], names: Names
) -> None:
    """`check` is None where no site says how packets are sent: path goes by the sender's then."""
    said = run(store, "path", *ends, "--json")
    if not said.text.startswith("{") or said.data["not_read"]:
        if check:  # what keeps a path from being drawn leaves a rule open there as well
            hosts = {end.partition(":")[0] for end in ends}
            open_ = any(subject.partition(":")[0] in hosts for subject in check.unknown)
            book.say("path", "host that was not read", " ".join(ends), said.status == 3)
            book.say("check", "host that was not read", " ".join(ends), open_)
        return
    counted = {"broken": 0, "unknown": 0}
    for packet in said.data["packets"]:
        counted["unknown"] += bool(packet["lost"])
        counted["unknown"] += packet["dscp"] is None  # then nobody knows its class
        for end, group in _way(packet):
            of_words(book, "path", end, group["does"])
            subjects = [*names(end), f"{end.partition(':')[0]}:*"]
            for field, kind, told in (
                ("broken", "rule that breaks a way", check.found if check else None),
                ("unknown", "rule that leaves a way open", check.unknown if check else None),
            ):
                counted[field] += len(group[field])
                if told is None:
                    continue
                for rule in _RULE.findall("\n".join(group[field])):
                    there = any(one["rule"] == rule for s in subjects for one in told.get(s, ()))
                    book.say("path", kind, f"{rule} at {end}", True)
                    book.say("check", kind, f"{rule} at {end}", there)
    name = " ".join(ends)
    book.say("path", "exit status of a path", name, said.status)
    status = status_of(counted["broken"], counted["unknown"])
    book.say("its hops", "exit status of a path", name, status)


def of_hops(book: Book, store: Path, check: Check, rules: set[str]) -> None:
    said = run(store, "path", "--json")
    if not said.text.startswith("{"):
        return
    found = unknown = 0
    for one in said.data["classes"]:
        found += one["with_findings"]
        unknown += one["with_unknown"]
        of_words(book, "hops", one["example"], one["does"])
        for text in one["does"]:
            if match := re.fullmatch(r"PFC (.*)", text):
                book.say(
                    "hops",
                    "PFC of an end",
                    one["example"],
                    UNKNOWN if "not read" in text else match[1],
                )
        if one["ports"] == 1:
            there = check.rules_found([one["example"]], rules)
            kind = "rules that find something in a class of ports"
            book.say("check", kind, one["example"], there)
            book.say(
                "hops",
                kind,
                one["example"],
                sorted({r["rule"] if isinstance(r, dict) else r for r in one["rules"]}),
            )
    book.say("hops", "exit status of the hops", "", said.status)
    book.say("its classes", "exit status of the hops", "", status_of(found, unknown))


def of_rails(book: Book, store: Path, check: Check) -> None:
    said = run(store, "rails", "--json")
    if not said.text.startswith("{"):
        return
    data = said.data
    sizes = {one["rail"]: one["compute_ports"] for one in data["rails"]}
    book.say("rails", "compute ports of each rail", "", sizes)
    marked = sorted({one["port"] for one in data["misplaced"]})
    rules = {"cable-wrong-rail", "cable-wrong-plane", "cable-unlike-plan", "cable-unlike-peers"}
    told = sorted(
        {
            f"{f['target']}:{f['device']}"
            for f in check.data["findings"]
            if f["rule"] in rules
            and f["device"]
            and f["link_partner"]
            and f["state"] in ("open", "implied")
            and f["severity"] != "info"
        }
    )
    book.say("rails", "misplaced port", "", marked)
    book.say("check", "misplaced port", "", told)
    book.say("rails", "exit status of rails", "", said.status)
    counts = ("not_read", "without_neighbor", "infiniband", "without_netdev", "without_rail")
    open_ = sum(data[name] for name in (*counts, "undecided", "hosts_not_read")) + (
        not data["rows"]
    )
    open_ += len(check.rules_unknown([], rules))
    asked = [u for u in check.open_unknown() if u["rule"] in rules and not u["switch_port"]]
    book.say("its list", "exit status of rails", "", status_of(len(told), open_ + len(asked)))
    book.say("rails", "compute ports", "", data["compute_ports"])


def of_predict(book: Book, store: Path) -> None:
    said = run(store, "predict", "ceiling", "--format", "json")
    if not said.text.startswith("{"):
        return
    ports = said.data["ports"]
    for one in ports:
        name = f"{one['target']}:{one['device']}"
        book.say("predict", "role of a port", name, one["role"] or UNKNOWN)
        book.say(
            "predict",
            "rate of a port",
            name,
            UNKNOWN if one["rate_gbps"] is None else f"{one['rate_gbps']:g}G",
        )
        ways = [one["into_memory_gbps"], one["from_memory_gbps"]]
        if one["role"] == "compute" and None not in ways:  # other ports of a card may share it
            carries = f"{min(ways):.1f} Gb/s"
            book.say(
                "predict", "what this PCIe path carries", f"{one['target']}:{one['pci']}", carries
            )
        relation = one["gpu_relation"]  # '' where there is no GPU
        said_of = UNKNOWN if relation is None else relation or "-"
        book.say("predict", "relation of a port to its GPU", name, said_of)
    open_ = sum(1 for one in ports if one["unknown"] or one["write_gbps"] is None)
    book.say("predict", "exit status of ceilings", "", said.status)
    book.say("its list", "exit status of ceilings", "", status_of(0, open_))
    compute = [one for one in ports if one["role"] == "compute"]
    book.say("predict", "compute ports", "", len(compute))
    sizes = Counter(one["rail"] for one in compute if one["rail"] is not None)
    book.say("predict", "compute ports of each rail", "", dict(sorted(sizes.items())))


def of_facts(book: Book, store: Path, check: Check) -> None:
    text = run(store, "facts").text
    hosts = re.search(
        r"^([\d,]+) hosts?: ([\d,]+) reached, ([\d,]+) not reached", text, re.MULTILINE
    )
    assert hosts, text
    switches = re.search(
        r"^([\d,]+) switch(?:es)?: ([\d,]+) reached, ([\d,]+) not reached", text, re.MULTILINE
    )
    silent = int(hosts[3]) + (int(switches[3]) if switches else 0)
    book.say("facts", "what was not reached", "", silent)
    told = {
        u["target"]
        for u in check.data["inconclusive"]
        if u["reason"] == "not_reached" and u["state"] != "out of service"
    }
    book.say("check", "what was not reached", "", len(told))
    roles = re.search(r"^Roles of RDMA ports.*\n.*\n((?:  .*\n)+)", text, re.MULTILINE)
    if roles and not silent:
        compute = [line.split() for line in roles[1].splitlines()]
        book.say(
            "facts",
            "compute ports",
            "",
            sum(int(c[1]) for c in compute if len(c) > 2 and c[2] == "compute"),
        )


def _table(text: str, first: str) -> Iterator[dict[str, str]]:
    """Rows of a table that begins with this heading, by column."""
    lines = text.splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith(f"  {first} ")]
    for at in heads[:1]:
        starts = [m.start() for m in re.finditer(r"(?<=  )\S", lines[at])]
        titles = [lines[at][a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        for line in lines[at + 1 :]:
            if not line.startswith("  "):
                return
            cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
            yield dict(zip(titles, cells, strict=True))


def _label(name: str) -> str:
    """leaf1.example.net is leaf1."""
    return name.partition(":")[0].partition(".")[0]


def _value(cell: str) -> str:
    """Without the mark of a finding."""
    return UNKNOWN if cell == "?" else cell.removesuffix(" !")


def _family(cell: str) -> str:
    """RS(544,514) is one of RS."""
    return "rs" if cell.startswith("RS(") else _value(cell)


def of_switch(book: Book, store: Path, name: str) -> None:
    text = run(store, "show", name, "--no-check").text  # what rules find is held by test_show
    for row in _table(text, "ports"):
        for port in unfolded(row["ports"].replace(" !", "")):
            end = f"{name}:{port}"
            book.say("show", "speed of an end", end, _value(row["speed"]))
            book.say("show", "error correction of an end", end, _value(row["FEC"]))
            mtu = _value(row["MTU"])
            book.say("show", "MTU of an end", end, mtu if mtu == UNKNOWN else int(mtu))
            book.say("show", "trust of an end", end, _value(row["trust"]))
            book.say("show", "PFC of an end", end, _value(row["PFC on"]))
            heard = row["LLDP neighbor"].removesuffix(" !")
            if re.fullmatch(r"[^ ,]+ [^ ,]+", heard):
                machine = _label(heard.partition(" ")[0])
                book.say("show", "machine at the other end", end, machine)
            if row["link"] != "?":
                book.down[end] = _value(row["link"]) == "down"


def of_both_ends(book: Book) -> None:
    """`show` tells the state of a port; a link is down where either of its ends is."""
    for (a, b), is_down in book.links.items():
        if a in book.down and b in book.down:
            book.say("links", "whether a link is down", f"{a} - {b}", is_down)
            book.say("show", "whether a link is down", f"{a} - {b}", book.down[a] or book.down[b])


_CARD = re.compile(
    r"  (?P<device>mlx5_\d+)(?: !)? +Gen\S+ x\S+(?: of \S+)?(?: !)? +(?P<netdev>\S+) +(?P<state>[A-Z?]+)"
    r"(?: (?P<rate>[\d.]+G))?(?: !)? +MTU (?P<mtu>\d+|\?)(?: !)?(?P<rest>.*)"
)


def of_host(book: Book, store: Path, name: str) -> None:
    text = run(store, "show", name, "--no-check").text  # what rules find is held by test_show
    for match in _CARD.finditer(text):
        port, end = f"{name}:{match['device']}", f"{name}:{match['netdev']}"
        last = match["rest"].removesuffix(" !").rpartition("  ")[2]
        if heard := re.fullmatch(r"(\S+):\S+", last):
            book.say("show", "machine at the other end", end, _label(heard[1]))
        book.say(
            "show", "MTU of an end", end, UNKNOWN if match["mtu"] == "?" else int(match["mtu"])
        )
        if match["state"] == "ACTIVE":
            book.say("show", "rate of a port", port, match["rate"] or UNKNOWN)
            book.say("show", "speed of an end", end, match["rate"] or UNKNOWN)
    for row in _table(text, "ports"):
        for device in unfolded(row["ports"]):
            port = f"{name}:{device}"
            book.say("show", "role of a port", port, _value(row["role"]).partition(" (")[0])
            book.say("show", "relation of a port to its GPU", port, _value(row["GPU"]))
            ends = re.findall(rf"  {device}(?: !)? +Gen\S+ x\S+(?: of \S+)?(?: !)? +(\S+)  ", text)
            for netdev in ends:
                book.say(
                    "show", "error correction of an end", f"{name}:{netdev}", _family(row["FEC"])
                )
                book.say("show", "trust of an end", f"{name}:{netdev}", _value(row["trust"]))


def of_explain(book: Book, store: Path, check: Check, one: dict[str, Any], verdict: str) -> None:
    rule, subject = one["rule"], one["subject"]
    text = run(store, "explain", rule, "--subject", subject).text
    match = re.search(rf"^{re.escape(subject)}: (.+)$", text, re.MULTILINE)
    name = f"{rule} at {subject}"
    book.say("check", "verdict", name, verdict)
    book.say("explain", "verdict", name, match[1] if match else "nothing")
    if verdict != "fail":
        return
    for kind in ("observed", "expected", "severity"):
        found = re.search(rf"^  {kind}  +(.*)$", text, re.MULTILINE)
        book.say("check", kind, name, one[kind])
        book.say("explain", kind, name, found[1] if found else None)
