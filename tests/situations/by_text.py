"""Evidence altered by hand, and what the command line says of it.

A host is what the runner read of a healthy model. A situation changes the text of single answers,
never a model or a renderer, so that nothing which knows the rules has a say in what a rule reads. A
change that changes nothing is a mistake in the test and raises ValueError.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from lab.harness.fleets import Reading, snapshot_of
from railwright.cli import program

MEDIUM_OR_WORSE = ("medium", "high", "blocker")
HIGH_OR_WORSE = ("high", "blocker")
# What inventory rests on where there are neither peers nor a site nor an earlier visit.
NO_REFERENCE = "no reference"
# The eight rails of the model hgx_h100.
_BUSES = (0x18, 0x29, 0x3A, 0x5B, 0x98, 0xA9, 0xBA, 0xDB)
RAILS = tuple(f"enp{bus}s0np0" for bus in _BUSES)
COMPUTE_NICS = tuple(f"0000:{bus:02x}:00.0" for bus in _BUSES)
# An entry of an answer that lists files: kind, size, zeros that were left out, path.
_HEAD = re.compile(rb"([FCLE]) ([0-9]+)(\+[0-9]+)? ([^\n]*)\n")

Text = Callable[[str], str]


# ---- answers


def change(host: Reading, probe: str, edit: Text, instance: str | None = None) -> Reading:
    """The same host with other words in the answers of this probe."""
    answers, changed = [], False
    for one in host.answers:
        if (one.probe, one.status) == (probe, "ok") and instance in (None, one.instance):
            text = one.stdout.decode("utf-8", "surrogateescape")
            words = edit(text)
            changed |= words != text
            one = replace(one, stdout=words.encode("utf-8", "surrogateescape"), packed=b"")  # noqa: PLW2901
        answers.append(one)
    if not changed:
        raise ValueError(f"nothing changed in {probe} {instance or ''}")
    return Reading(host.host, tuple(answers))


def words(*pairs: tuple[str, str]) -> Text:
    """Words instead of others, all of which must be there."""

    def edit(text: str) -> str:
        for old, new in pairs:
            if old not in text:
                raise ValueError(f"{old!r} is not in the answer")
            text = text.replace(old, new)
        return text

    return edit


def everywhere(host: Reading, *pairs: tuple[str, str]) -> Reading:
    """Words instead of others in every answer and in what answers are about; sizes kept right."""
    answers = []
    for one in host.answers:
        text = one.stdout.decode("utf-8", "surrogateescape")
        instance = one.instance
        for old, new in pairs:
            instance = instance.replace(old, new)
            if old in text:
                text = _in_entries(text, old, new) if _lists_files(text) else text.replace(old, new)
        bytes_ = text.encode("utf-8", "surrogateescape")
        answers.append(replace(one, instance=instance, stdout=bytes_, packed=b""))
    return Reading(host.host, tuple(answers))


def unanswered(host: Reading, probe: str, status: str, reason: str = "") -> Reading:
    """The probe has this status instead of an answer."""
    if all(one.probe != probe for one in host.answers):
        raise ValueError(f"{probe} was not asked")
    silent = {"status": status, "reason": reason, "stdout": b"", "packed": b""}
    answers = (replace(one, **silent) if one.probe == probe else one for one in host.answers)
    return Reading(host.host, tuple(answers))


def without_instances(host: Reading, *instances: str) -> Reading:
    """Nobody asked about these functions or network devices."""
    return Reading(host.host, tuple(a for a in host.answers if a.instance not in instances))


def change_list(
    host: Reading, probe: str, edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> Reading:
    """The same for an answer that is a JSON list."""
    return change(host, probe, lambda text: json.dumps(edit(json.loads(text))))


# ---- answers that list files


def _lists_files(text: str) -> bool:
    return _HEAD.match(text.encode("utf-8", "surrogateescape")) is not None


def entries(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Kind (F file, L link, E error), zeros left out, path, content."""
    data, at = text.encode("utf-8", "surrogateescape"), 0
    while at < len(data):
        head = _HEAD.match(data, at)
        if head is None:
            raise ValueError(f"no entry at {data[at : at + 80]!r}")
        end = head.end() + int(head[2])
        body = data[head.end() : end].decode("utf-8", "surrogateescape")
        yield head[1].decode(), (head[3] or b"").decode(), head[4].decode(), body
        at = end + 1


def entry(path: str, content: str, kind: str = "F", zeros: str = "") -> str:
    """One entry as the runner writes it."""
    size = len(content.encode("utf-8", "surrogateescape"))
    return f"{kind} {size}{zeros} {path}\n{content}\n"


def _in_entries(text: str, old: str, new: str) -> str:
    listed = entries(text)
    return "".join(entry(p.replace(old, new), c.replace(old, new), k, z) for k, z, p, c in listed)


def files(values: Mapping[str, str]) -> Text:
    """These files hold this instead; a file that is not there is added."""

    def edit(text: str) -> str:
        left = dict(values)
        kept = [entry(p, left.pop(p, c), k, z) for k, z, p, c in entries(text)]
        return "".join(kept) + "".join(entry(path, content) for path, content in left.items())

    return edit


def in_file(path: str, *pairs: tuple[str, str]) -> Text:
    """Other words in one of the files."""
    edit = words(*pairs)
    return lambda text: "".join(
        entry(p, edit(c) if p == path else c, k, z) for k, z, p, c in entries(text)
    )


def links(values: Mapping[str, str]) -> Text:
    """These symbolic links are there too."""
    added = "".join(entry(path, content, "L") for path, content in values.items())
    return lambda text: text + added


def without_files(matching: str) -> Text:
    """No entry whose path matches this pattern."""
    found = re.compile(matching)
    return lambda text: "".join(
        entry(p, c, k, z) for k, z, p, c in entries(text) if not found.search(p)
    )


# ---- what happens to hosts


def without_nccl_file(host: Reading) -> Reading:
    """No file of the host pins NCCL to devices: the usual case."""
    reason = "no such configuration file on this host"
    return unanswered(host, "libraries", "absent", reason)


def mtu(host: Reading, netdev: str, value: int) -> Reading:
    """Another MTU of a network device."""

    def edit(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**one, "mtu": value} if one["ifname"] == netdev else one for one in listed]

    host = change(host, "netdev", files({f"/sys/class/net/{netdev}/mtu": f"{value}\n"}))
    return change_list(host, "ip_address", edit)


def port_down(host: Reading, device: str, netdev: str, *, keeps_address: bool = True) -> Reading:
    """The port's link is down. Network managers take the address away unless told otherwise."""

    def addresses(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        gone = {"operstate": "DOWN"} | ({} if keeps_address else {"addr_info": []})
        return [{**one, **gone} if one["ifname"] == netdev else one for one in listed]

    def states(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        down = {"state": "DOWN", "physical_state": "DISABLED"}
        return [{**one, **down} if one["ifname"] == device else one for one in listed]

    port, net = f"/sys/class/infiniband/{device}/ports/1", f"/sys/class/net/{netdev}"
    down = {f"{port}/state": "1: DOWN\n", f"{port}/phys_state": "3: Disabled\n"}
    host = change(host, "infiniband", files(down))
    host = change(host, "netdev", files({f"{net}/operstate": "down\n", f"{net}/carrier": "0\n"}))
    host = change_list(host, "rdma_link", states)
    return change_list(host, "ip_address", addresses)


def without_rdma_device(host: Reading, device: str) -> Reading:
    """The card and its network device are there, its RDMA device is not."""
    for probe in ("infiniband", "roce_tos"):
        host = change(host, probe, without_files(f"/{device}(/|$)"))
    for probe in ("rdma_link", "rdma_dev", "rdma_statistic"):
        host = change_list(host, probe, lambda listed: _others(listed, "ifname", device))
    return change(host, "ibv_devinfo", _without_section(device))


def lost_nic(host: Reading, pci: str, device: str, netdev: str) -> Reading:
    """The function has left the bus, and with it everything that was made of it."""
    host = without_rdma_device(without_instances(host, pci, netdev), device)
    for probe in ("pci", "pci_config", "pci_errors", "netdev", "ecn"):
        gone = without_files(f"/({re.escape(pci)}|{netdev})(/|$)")
        host = change(host, probe, gone)
    host = change_list(host, "ip_address", lambda listed: _others(listed, "ifname", netdev))
    return change_list(host, "ip_route", lambda listed: _others(listed, "dev", netdev))


def lost_gpu(host: Reading, pci: str) -> Reading:
    """The GPU has left the bus; the driver lists one less."""
    for probe in ("pci", "pci_config", "pci_errors"):
        host = change(host, probe, without_files(f"/{re.escape(pci)}(/|$)"))
    number = "0000" + pci.upper()  # nvidia-smi has eight digits of domain
    section = re.compile(rf'\t<gpu id="{number}">.*?</gpu>\n', re.DOTALL)
    return change(host, "nvidia_smi", lambda text: section.sub("", text))


def _others(listed: list[dict[str, Any]], key: str, value: str) -> list[dict[str, Any]]:
    return [one for one in listed if one.get(key) != value]


def _without_section(device: str) -> Text:
    """Verbs print a section per device, headed by its name."""
    section = re.compile(rf"hca_id:\s+{device}\n.*?(?=hca_id:|\Z)", re.DOTALL)
    return lambda text: section.sub("", text)


# ---- what is said of them


@dataclass(frozen=True)
class Report:
    """What `railwright check --format json` printed."""

    exit_status: int
    findings: list[dict[str, Any]]
    unknown: list[dict[str, Any]]
    rules: dict[str, dict[str, Any]]

    def severity(self, rule: str, subject: str) -> str | None:
        """How bad the rule calls it there; None where it found nothing."""
        return next((one["severity"] for one in self.of(rule, subject)), None)

    def of(self, rule: str, subject: str) -> list[dict[str, Any]]:
        """Findings of a rule at a subject."""
        return [f for f in self.findings if f["rule"] == rule and f["subject"] == subject]

    def at(self, place: str) -> list[dict[str, Any]]:
        """Findings at a machine or a part of it."""
        return [one for one in self.findings if _is_within(one["subject"], place)]

    def found(self, *rules: str) -> list[tuple[str, str, str]]:
        """What these rules found, or all of them."""
        rows = (f for f in self.findings if not rules or f["rule"] in rules)
        return sorted((f["rule"], f["subject"], f["severity"]) for f in rows)

    def reason(self, rule: str, place: str) -> str | None:
        """Why the rule could not tell at the place or at all of its machine; None where it could."""
        machine = place.partition(":")[0]
        for one in self.unknown:
            if one["rule"] == rule and one["subject"] in (place, machine, f"{machine}:*"):
                return plain(one["why"])
        return None

    def open_questions(self) -> list[tuple[str, str, str]]:
        """What nobody could tell, but for inventory that has nothing to be held to."""
        rows = ((u["rule"], u["subject"], plain(u["why"])) for u in self.unknown)
        return sorted(row for row in rows if NO_REFERENCE not in row[2])


def plain(why: str) -> str:
    """A reason as words, whether it is printed as words or as a name such as not_reported."""
    return why.lower().replace("_", " ")


def naming(finding: Mapping[str, Any]) -> str:
    """Everything a finding says of where it is and of what it saw."""
    keys = ("subject", "observed", "expected", "detail")
    return " ".join(str(finding[key]) for key in keys if finding[key] is not None)


def _is_within(subject: str, place: str) -> bool:
    return subject == place or subject.startswith((f"{place}:", f"{place}#", f"{place}/"))


def assert_nothing_to_report(report: Report) -> None:
    """Nothing wrong and nothing unknown.

    Fewer than four like hosts, with no site file and no earlier visit, have no reference for their
    inventory: that alone may be open, and then the exit status says so.
    """
    assert report.found() == []
    assert report.open_questions() == []
    assert report.exit_status == (3 if report.unknown else 0)


def assert_nothing_at(report: Report, host: str) -> None:
    """The same of one host among others."""
    assert report.at(host) == []
    assert [one for one in report.open_questions() if _is_within(one[1], host)] == []


@dataclass
class Fleet:
    """A snapshot of hosts in a store of its own."""

    store: Path
    hosts: Mapping[str, Reading]
    _is_made: bool = False

    def run(self, *line: str) -> Result:
        """Any command on this store."""
        if not self._is_made:
            snapshot_of(self.store, self.hosts)
            self._is_made = True
        # Nothing of whoever runs the tests: no site file, no waivers.
        own = {"HOME": str(self.store.parent), "RAILWRIGHT_SITE": None, "XDG_CONFIG_HOME": None}
        return CliRunner(env=own).invoke(program(), [*line, "--store", str(self.store)])

    def check(self, site: str = "", *line: str) -> Report:
        """What `check` says, with this site file or without one."""
        if site:
            file = self.store.parent / f"{self.store.name}-site.toml"
            file.write_text(site)
            line = ("--site", str(file), *line)
        return report_of(self.run("check", "--format", "json", *line))

    def proposed_site(self) -> str:
        """The site file that `intent init` writes."""
        text = self.run("intent", "init").stdout
        return text[: text.index("Next: ")] if "Next: " in text else text


def report_of(done: Result) -> Report:
    """The JSON of `check`, and its exit status, which must be the one it printed."""
    if not done.stdout.startswith("{"):
        raise ValueError(f"check said no JSON: {done.output} {done.exception!r}")
    told = json.loads(done.stdout)
    if told["exit_status"] != done.exit_code:
        raise ValueError(f"exit status {done.exit_code}, printed {told['exit_status']}")
    rules = {one["id"]: one for one in told["rules"]}
    return Report(done.exit_code, told["findings"], told["inconclusive"], rules)


def each(hosts: Mapping[str, Reading], edit: Callable[[Reading], Reading]) -> dict[str, Reading]:
    """Every host changed alike."""
    return {name: edit(host) for name, host in hosts.items()}
