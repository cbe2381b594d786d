"""The site file: what this fabric is meant to be, over a profile, in the operator's own words."""

import re
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, cast

from railwright.errors import UsageError, reason_of
from railwright.intent.cabling import Cable, load_cabling
from railwright.intent.parameters import NAME, can_be, known, values_of
from railwright.toml import load_toml

PROFILES = Path(__file__).parent / "profiles"
ROLES = ("compute", "storage", "management", "unused")
_MTU = range(68, 65536)
PARTS = re.compile(r"(?:[0-9a-f]{4}:[0-9a-f]{4}(?:\|[0-9a-f]{4}:[0-9a-f]{4})*)?", re.ASCII)
_PRIORITY, _DSCP = range(8), range(64)

# What `[fabric]` may say: a type, the values of a word, or the range of a number.
FABRIC: dict[str, Any] = {
    "trust": ("dscp", "pcp"),
    "lossless_priorities": [_PRIORITY],
    "data_priority": _PRIORITY,
    "data_dscp": _DSCP,
    "cnp_dscp": _DSCP,
    "cnp_priority": _PRIORITY,
    "ecn": bool,
    "programmable_cc": bool,
    "adaptive_routing": bool,
    "mtu": _MTU,
    "dcbx_owner": ("host", "firmware"),
    "max_read_request": (128, 256, 512, 1024, 2048, 4096),
    "rdma_netns_mode": ("shared", "exclusive"),
    "ibgda": bool,
    "pfc_watchdog": bool,
    "switch_mtu": _MTU,
    "oversubscription": float,
    "storage_dscp": _DSCP,
}
CLASS: dict[str, Any] = {
    "name": str,
    "hosts": str,
    "kind": str,
    "compute_nics": range(1, 65),
    "gpus": range(65),
    "port_rate_gbps": range(1, 10_000),
    "numa_nodes": range(1, 1025),
    "pcie_limited": bool,
    "passes_physical_functions": bool,
    "slots": [dict],
    "unconfirmed": bool,
}
# What is in a slot of a class: where it is, and which card.
SLOT: dict[str, Any] = {
    "at": str,
    "kind": ("nic", "gpu"),
    "part": str,
    "functions": range(1, 17),
    "rdma_devices": range(17),
    "netdevs": range(17),
    "links": range(17),
}
ROLE: dict[str, Any] = {"role": ROLES, "hosts": str, "devices": [str], "netdevs": [str]}
NIC: dict[str, Any] = {"psid": str, "firmware": str, "parameters": dict}
WAY_IN: dict[str, Any] = {"hosts": str, "second": str, "interfaces": [str]}
OWNER: dict[str, Any] = {"name": str, "hosts": str, "settings": [str]}
_TOP: dict[str, Any] = {
    "profile": str,
    "cabling": str,
    "fabric": dict,
    "class": list,
    "role": list,
    "nic": list,
    "never_touch": [str],
    "way_in": list,
    "owner": list,
    "parameters": dict,
    "out_of_service": dict,
    "switches": dict,
}


@dataclass(frozen=True)
class Site:
    """A checked site file."""

    profile: str = "observe"
    mode: str | None = None
    fabric: dict[str, Any] = field(default_factory=dict)
    classes: tuple[dict[str, Any], ...] = ()
    roles: tuple[dict[str, Any], ...] = ()
    nics: tuple[dict[str, Any], ...] = ()
    never_touch: tuple[str, ...] = ()  # netdev names; `*` stands for anything
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)  # rule -> name -> value
    cabling: str = ""  # the cabling plan's file, from the site file's own folder
    cables: tuple[Cable, ...] = ()
    away: tuple[str, ...] = ()  # node sets that are out of service
    ways_in: tuple[dict[str, Any], ...] = ()  # machines that have a second way in
    owners: tuple[dict[str, Any], ...] = ()  # who else owns settings of machines


class _Checker:
    """Says what is wrong in the words of the file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def wrong(self, what: str, do: str = "", why: str = "") -> UsageError:
        do = do or "See docs/site.md for the allowed keys and values."
        return UsageError(f"{self._name}: {what}", why=why, do=do)

    def keys(self, where: str, data: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
        for key, value in data.items():
            if key not in known:
                near = get_close_matches(key, known, 1)
                hint = f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(known)}."
                raise self.wrong(f"{where}: unknown key {key!r}", hint)
            self.value(f"{where} {key}", value, known[key])
        return data

    def value(self, where: str, value: object, kind: object) -> None:
        if isinstance(kind, list):
            if not isinstance(value, list):
                raise self.wrong(f"{where} must be a list")
            for one in value:
                self.value(where, one, kind[0])
        elif isinstance(kind, range):
            if not isinstance(value, int) or isinstance(value, bool) or value not in kind:
                raise self.wrong(f"{where} must be a number from {kind[0]} to {kind[-1]}")
        elif isinstance(kind, tuple):
            if value not in kind or isinstance(value, bool):
                raise self.wrong(f"{where} must be one of {', '.join(map(str, kind))}")
        elif kind is float:
            self._above_zero(where, value)
        elif isinstance(kind, type) and not isinstance(value, kind):
            names = {str: "a string", dict: "a table", list: "tables", bool: "true or false"}
            raise self.wrong(f"{where} must be {names[kind]}")

    def _above_zero(self, where: str, value: object) -> None:
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not value > 0:
            raise self.wrong(f"{where} must be a number above 0")


@cache
def profiles() -> dict[str, dict[str, Any]]:
    """All profiles by name."""
    found = {}
    for path in sorted(PROFILES.glob("*.toml")):
        data = load_toml(path.read_text("utf-8"), path.name)
        checker = _Checker(path.name)
        known = {"meaning": str, "mode": str, "sources": [str], "fabric": dict}
        checker.keys("the profile", data, known)
        checker.keys("fabric", cast("dict[str, Any]", data["fabric"]), FABRIC)
        found[path.stem] = data
    return found


def _entries(
    checker: _Checker, data: dict[str, Any], key: str, known: dict[str, Any], must: tuple[str, ...]
) -> tuple[dict[str, Any], ...]:
    found = []
    for number, entry in enumerate(data.get(key, []), 1):
        where = f"[[{key}]] {number}"
        checker.value(where, entry, dict)
        checker.keys(where, entry, known)
        missing = [name for name in must if name not in entry]
        if missing:
            raise checker.wrong(f"{where}: {', '.join(missing)} missing")
        found.append(entry)
    return tuple(found)


def _check_slots(checker: _Checker, classes: tuple[dict[str, Any], ...]) -> None:
    for entry in classes:
        places: set[str] = set()
        for slot in entry.get("slots", []):
            where = f"a slot of class {entry['name']}"
            checker.keys(where, slot, SLOT)
            if "at" not in slot or "kind" not in slot:
                raise checker.wrong(f"{where}: at or kind missing")
            if slot["at"] in places:
                raise checker.wrong(f"class {entry['name']} has a duplicate slot {slot['at']}")
            if not PARTS.fullmatch(slot.get("part", "")):
                raise checker.wrong(
                    f"{where}: {slot['part']!r} is not a part",
                    "Write vendor and device id, e.g. 15b3:1021; separate several with |.",
                )
            places.add(slot["at"])


def _check_parameter(checker: _Checker, where: str, name: str, value: object) -> None:
    if not NAME.fullmatch(name):
        raise checker.wrong(f"{where} is not a firmware parameter")
    if not isinstance(value, (str, int, bool)):
        raise checker.wrong(f"{where} must be a number or a string")
    parameter = known(name)
    if parameter is not None and not can_be(parameter, value):
        raise checker.wrong(
            f"{where} cannot be {value}",
            f"Allowed: {values_of(parameter)} (from mstflint's list of parameters).",
            why="mlxconfig refuses to set it, so no NIC can have it.",
        )


def read_site(text: str, name: str) -> Site:
    """A site file; every mistake in it is told by name."""
    data: dict[str, Any] = load_toml(text, name)
    checker = _Checker(name)
    checker.keys("the file", data, _TOP)
    profile = str(data.get("profile", "observe"))
    if profile not in profiles():
        raise checker.wrong(
            f"unknown profile {profile!r}", f"Choose one of {', '.join(profiles())}."
        )
    base = profiles()[profile]
    fabric = cast("dict[str, Any]", data.get("fabric", {}))
    checker.keys("fabric", fabric, FABRIC)
    types = [entry["psid"] for entry in _entries(checker, data, "nic", NIC, ("psid",))]
    twice = sorted({psid for psid in types if types.count(psid) > 1})
    if twice:
        raise checker.wrong(f"duplicate [[nic]] {twice[0]}", "Merge the two entries.")
    for entry in data.get("nic", []):
        for parameter, value in entry.get("parameters", {}).items():
            _check_parameter(checker, f"nic {entry['psid']}: {parameter}", parameter, value)
    for entry in _entries(checker, data, "role", ROLE, ("role",)):
        if ("devices" in entry) == ("netdevs" in entry):
            raise checker.wrong(f"[[role]] {entry['role']} needs either devices or netdevs")
    classes = _entries(checker, data, "class", CLASS, ("name",))
    _check_slots(checker, classes)
    return Site(
        profile,
        cast("str | None", base.get("mode")),
        {**base["fabric"], **fabric},
        classes,
        tuple(data.get("role", [])),
        tuple(data.get("nic", [])),
        tuple(data.get("never_touch", [])),
        cast("dict[str, dict[str, Any]]", data.get("parameters", {})),
        str(data.get("cabling", "")),
        away=tuple(data.get("out_of_service", {})),
        ways_in=_entries(checker, data, "way_in", WAY_IN, ("hosts", "second")),
        owners=_entries(checker, data, "owner", OWNER, ("name", "hosts", "settings")),
    )


def load_site(path: Path | None) -> Site:
    """The site file, or the profile `observe` where there is none."""
    if path is None:
        return Site()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the site file {path}: {reason_of(error)}",
            do="Name another with --site. To propose one: railwright intent init",
        ) from error
    site = read_site(text, str(path))
    return replace(site, cables=load_cabling(path.parent / site.cabling)) if site.cabling else site
