"""What `predict`, `facts`, `show` and `explain` state about one snapshot (agreement.py)."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.harness import agreement
from lab.harness.agreement import UNKNOWN, Book, Check, label, status_of, unfolded


def of_predict(book: Book, store: Path) -> None:
    said = agreement.run(store, "predict", "ceiling", "--format", "json")
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
    text = agreement.run(store, "facts").text
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


def _value(cell: str) -> str:
    """Without the mark of a finding."""
    return UNKNOWN if cell == "?" else cell.removesuffix(" !")


def _family(cell: str) -> str:
    """RS(544,514) is one of RS."""
    return "rs" if cell.startswith("RS(") else _value(cell)


def of_switch(book: Book, store: Path, name: str) -> None:
    text = agreement.run(
        store, "show", name, "--no-check"
    ).text  # what rules find is held by test_show
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
                machine = label(heard.partition(" ")[0])
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
    r"  (?P<device>mlx5_\d+)(?: !)? +Gen\S+ x\S+(?: of \S+)?(?: !)? +(?P<netdev>\S+)"
    r" +(?P<state>[A-Z?]+)"
    r"(?: (?P<rate>[\d.]+G))?(?: !)? +MTU (?P<mtu>\d+|\?)(?: !)?(?P<rest>.*)"
)


def of_host(book: Book, store: Path, name: str) -> None:
    text = agreement.run(
        store, "show", name, "--no-check"
    ).text  # what rules find is held by test_show
    for match in _CARD.finditer(text):
        port, end = f"{name}:{match['device']}", f"{name}:{match['netdev']}"
        last = match["rest"].removesuffix(" !").rpartition("  ")[2]
        if heard := re.fullmatch(r"(\S+):\S+", last):
            book.say("show", "machine at the other end", end, label(heard[1]))
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
    text = agreement.run(store, "explain", rule, "--subject", subject).text
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
