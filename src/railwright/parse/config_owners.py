"""Probe `config_owners`: who owns what a repair would set, from files cut down on the host.

netplan and cloud-init (YAML), .link, .network, .netdev and .nmconnection (ini), ifcfg, ifupdown,
units, udev rules and scripts (calls of tools), tuned's profile, and markers of configuration
management in any of them. In YAML the indentation tells what belongs to what.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row
from railwright.parse.files import Files, read_files
from railwright.parse.host_text import without_last_line


class Said(NamedTuple):
    """One thing that a file says."""

    owner: str
    netdev: str
    name: str
    value: str


_KINDS = (
    ("netplan", re.compile(r"/(?:etc|run)/netplan/[^/]+\.yaml")),
    ("NetworkManager", re.compile(r"/etc/NetworkManager/system-connections/[^/]+")),
    ("ifcfg", re.compile(r"/etc/sysconfig/network(?:-scripts)?/ifcfg-[^/]+")),
    ("ifupdown", re.compile(r"/etc/network/interfaces(?:\.d/[^/]+)?")),
    ("link", re.compile(r"/(?:etc|run)/systemd/network/[^/]+\.link")),
    ("networkd", re.compile(r"/(?:etc|run)/systemd/network/[^/]+")),
    ("cloud-init", re.compile(r"/etc/cloud/cloud\.cfg\.d/[^/]+")),
    ("unit", re.compile(r"/etc/systemd/system/[^/]+(?:/[^/]+)?")),
    ("udev", re.compile(r"/etc/udev/rules\.d/[^/]+")),
    ("tuned", re.compile(r"/etc/tuned/active_profile")),
    (
        "script",
        re.compile(r"/etc/(?:rc\.local|rc\.d/rc\.local|networkd-dispatcher/.+|NetworkManager/d.+)"),
    ),
    ("", re.compile(r"/etc/(?:sysctl|modprobe|modules-load|security|default|nccl)[./].+")),
)
CLOUD_INIT_OFF = "/etc/cloud/cloud-init.disabled"
_MARKER = re.compile(
    r"ansible[ _-]managed|[a-z]{7,11} (?:by|with|via|from) [a-z -]{3,40}"
    r"|generated from information provided by the datasource",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"(mlnx_qos|mlnx_affinity|mlnx_tune|cma_roce_mode|cma_roce_tos|set_irq_affinity[a-z_]{0,20}\.sh"
    r"|ethtool|setpci|dcb|lldptool|devlink|sysctl|mlxconfig|mstconfig|mlxreg|cpupower)(?: (.*))?"
)
_VIRTUAL_FUNCTIONS = re.compile(r'ATTR\{device/sriov_numvfs\}="([0-9]{1,4})"')
_KEY = re.compile(r"( *)[\"']?([A-Za-z][A-Za-z0-9_.-]{0,14})[\"']?: *[\"']?([^\"']*?)[\"']? *")
_SECTION = re.compile(r"\[([A-Za-z0-9-]{1,30})\] *")
_GROUPS = frozenset({"ethernets", "bonds", "vlans", "bridges", "vrfs", "dummy-devices"})
_MATCHES = {"link": "OriginalName", "networkd": "Name", "NetworkManager": "interface-name"}
_SHELL = re.compile(r"(DEVICE|MTU|NM_CONTROLLED|ONBOOT|STARTMODE)=[\"']?([^\"']*)[\"']? *")


def _of_marker(line: str) -> Said:
    words = line.lower().split()
    tool = "ansible" if words[0].startswith("ansible") else " ".join(words[2:]).removeprefix("the ")
    return Said("cloud-init" if "datasource" in words else tool, "", "marker", line)


def _of_yaml(lines: list[str]) -> Iterator[Said]:
    """network: ethernets: NAME: match: name / mtu, renderer at any level."""
    above: list[tuple[int, str]] = []
    matched: dict[str, str] = {}
    found: list[tuple[str, str, str]] = []
    for line in lines:
        key = _KEY.fullmatch(line)
        if key is None:
            continue
        depth, name, value = len(key[1]), key[2], key[3]
        while above and above[-1][0] >= depth:
            above.pop()
        path = [part for _, part in above]
        device = path[2] if len(path) > 2 and path[1] in _GROUPS else ""
        if value == "":
            above.append((depth, name))
            if len(path) == 2 and path[1] in _GROUPS:
                found.append((name, "interface", path[1]))
        elif name == "name" and path[3:] == ["match"]:
            matched[device] = value
        elif name in ("renderer", "mtu"):
            found.append((device, name, value))
    for device, name, value in found:
        yield Said("netplan", matched.get(device, device), name, value)


def _of_cloud_init(lines: list[str]) -> Iterator[Said]:
    if any(line.replace(" ", "").endswith("config:disabled") for line in lines):
        yield Said("cloud-init", "", "network", "disabled")


def _of_ini(owner: str, lines: list[str]) -> Iterator[Said]:
    section, match, found = "", "", []
    for line in lines:
        head = _SECTION.fullmatch(line)
        name, equals, value = line.partition("=")
        if head is not None:
            section = head[1]
        elif equals and name == _MATCHES[owner] and section in ("Match", "connection"):
            match = value.strip()
        elif equals and section != "Match":
            found.append((name, value.strip()))
    yield Said(owner, match, "interface", "")
    for name, value in found:
        yield Said(owner, match, "mtu" if name in ("mtu", "MTUBytes") else name, value)


def _of_ifcfg(path: str, lines: list[str]) -> Iterator[Said]:
    said = [match for match in map(_SHELL.fullmatch, lines) if match is not None]
    names = [match[2] for match in said if match[1] == "DEVICE"]
    device = names[-1] if names else path.rpartition("/ifcfg-")[2]
    yield Said("ifcfg", device, "interface", "")
    for match in said:
        if match[1] != "DEVICE":
            yield Said("ifcfg", device, "mtu" if match[1] == "MTU" else match[1], match[2])


def _of_ifupdown(lines: list[str]) -> Iterator[Said]:
    device = ""
    for words in map(str.split, lines):
        if words[:1] == ["iface"] and len(words) > 1:
            device = words[1]
            yield Said("ifupdown", device, "interface", " ".join(words[2:]))
        elif words[:1] == ["mtu"] and len(words) == 2:
            yield Said("ifupdown", device, "mtu", words[1])


def _of_calls(owner: str, lines: list[str]) -> Iterator[Said]:
    for line in lines:
        call, functions = _CALL.fullmatch(line), _VIRTUAL_FUNCTIONS.fullmatch(line)
        if call is not None:
            yield Said(owner, "", call[1], call[2] or "")
        elif functions is not None:
            yield Said(owner, "", "sriov_numvfs", functions[1])


def _of_kind(owner: str, path: str, lines: list[str]) -> Iterator[Said]:
    if owner == "netplan":
        yield from _of_yaml(lines)
    elif owner == "cloud-init":
        yield from _of_cloud_init(lines)
    elif owner in _MATCHES:
        yield from _of_ini(owner, lines)
    elif owner == "ifcfg":
        yield from _of_ifcfg(path, lines)
    elif owner == "ifupdown":
        yield from _of_ifupdown(lines)
        yield from _of_calls(owner, lines)
    elif owner == "tuned":
        yield from (Said(owner, "", "profile", line) for line in lines if line)
    elif owner:
        yield from _of_calls(owner, lines)


def _kind(path: str) -> str | None:
    return next((owner for owner, pattern in _KINDS if pattern.fullmatch(path)), None)


def _said(files: Files, path: str, owner: str) -> Iterator[Said]:
    text = files.text(path) or ""
    lines = (without_last_line(text) if files.is_cut(path) else text).split("\n")
    markers = [line for line in lines if _MARKER.fullmatch(line)]
    yield from map(_of_marker, markers)
    if files.content(path) is not None:
        yield from _of_kind(owner, path, [line for line in lines if line not in markers])


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table config_owner."""
    files = read_files(data)
    known = {path: owner for path in files if (owner := _kind(path)) is not None}
    if data and not known and CLOUD_INIT_OFF not in files:
        raise NotUnderstoodError("no file that owns a setting")
    for path, owner in known.items():
        said = list(dict.fromkeys(_said(files, path, owner)))
        for place, one in enumerate(said):
            yield Row("config_owner", {"file": path, "place": place, **one._asdict()})
        # Of a masked unit the file is /dev/null, which is not read: EINVAL.
        unread = files.content(path) is None and files.error(path) not in ("ENOENT", "EINVAL")
        if unread or files.is_cut(path):
            last = {"owner": owner or None, "netdev": None, "name": "", "value": None}
            yield Row("config_owner", {"file": path, "place": len(said), **last})
    if CLOUD_INIT_OFF in files:
        off = Said("cloud-init", "", "network", "disabled")
        yield Row("config_owner", {"file": CLOUD_INIT_OFF, "place": 0, **off._asdict()})
