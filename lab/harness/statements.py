"""What `check`, `links`, `path` and `rails` state about one snapshot (agreement.py)."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.harness import agreement
from lab.harness.agreement import FORMATS, UNKNOWN, Book, Check, label, status_of


def of_check(book: Book, store: Path, formats: tuple[str, ...] = FORMATS) -> Check:
    check = Check(agreement.run(store, "check", "--format", "json"))
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
        said = agreement.run(store, "check", "--format", name)
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
    said = agreement.run(store, "links", "--json")
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
                book.say("links", "machine at the other end", end, label(other))
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
    """Every end on a packet's way, and what was said of it; a whole switch has no name here."""
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
    said = agreement.run(store, "path", *ends, "--json")
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
    said = agreement.run(store, "path", "--json")
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
    said = agreement.run(store, "rails", "--json")
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
