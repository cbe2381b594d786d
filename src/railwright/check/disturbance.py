"""What a repair disturbs, in one word: it decides whether a fix waits for a drained host.

A rule that sets something takes the word from its setting (settings.toml), any other from its
action; a header's `disturbs` goes before both. What no document says is unknown, never guessed.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from railwright.toml import load_toml

UNKNOWN = "unknown"
LOOK_FIRST = "depends"
# What people read, in the order of how much stops.
DISTURBANCES = {
    "nothing": "takes effect at once, traffic goes on",
    "new jobs": "jobs that start afterwards use it; running jobs keep the old value",
    "packet loss": "queues or buffers are rebuilt, packets may be lost meanwhile; links stay up",
    "service restart": "a daemon restarts, and what it runs may stop",
    "link flap": "the port goes down and trains again: count on losing the jobs that use it",
    "running jobs": "jobs that use it lose it: drain first",
    "driver restart": "network and RDMA devices go away and come back; no QP survives",
    "GPU reset": "programs on the GPU end; on a board with NVSwitches, on all its GPUs",
    "NIC reset": "all functions of the card go down, on multi-host cards those of the other hosts "
    "too; a BlueField or a card with a PCIe switch may need a reboot",
    "reboot": "the host restarts",
    "power cycle": "the host goes off, standby power too",
    "switch reload": "all ports of the switch go down",
    "hands on site": "someone works on a cable, a module, a card or a part",
    LOOK_FIRST: "look first: the cause decides what to do",
    UNKNOWN: "not documented",
}
# When a new value counts: (what that means, what it disturbs).
TAKES_HOLD = {
    "now": ("when it is written", "nothing"),
    "new_jobs": ("for processes that start afterwards", "new jobs"),
    "queues": ("when the driver has rebuilt the queues", "packet loss"),
    "service": ("when a daemon restarts", "service restart"),
    "link": ("when the link has trained again", "link flap"),
    "driver": ("when the driver is loaded again", "driver restart"),
    "firmware_reset": ("at a firmware reset", "NIC reset"),
    "reboot": ("at a reboot", "reboot"),
    "power_cycle": ("at a power cycle", "power cycle"),
    "switch_reload": ("at a reload of the switch", "switch reload"),
    "": ("not documented", UNKNOWN),
}
# How far the change goes, or a wrong value, whichever is more.
REACH = {
    "none": "nothing that runs",
    "jobs": "jobs that start later",
    "link": "one rail of a host",
    "card": "all functions of one card",
    "host": "the host",
    "switch": "any port of one switch",
    "fabric": "machines that were not touched",
    "": "not documented",
}
WAY_BACK = {
    "exact": "the old value, at the same cost",
    "again": "the old value, with the same reset or reboot again",
    "partial": "the old value, but side effects stay (names, GID indexes, VFs)",
    "none": "may be refused",
    "": "not documented",
}
_BY_ACTION = {"reseat": "hands on site", "replace": "hands on site", "ask": LOOK_FIRST}
_ANY_PARAMETER = "nic.parameter"
_FILE = Path(__file__).with_name("settings.toml")


class Setting(NamedTuple):
    """One setting that a remedy can change."""

    takes_hold: str  # of TAKES_HOLD
    reach: str  # of REACH
    way_back: str  # of WAY_BACK
    sources: tuple[str, ...]
    disturbs: str  # of DISTURBANCES
    remark: str  # where it disturbs something else: "ConnectX-4: packet loss"


@cache
def settings() -> dict[str, Setting]:
    """All of settings.toml by name."""
    data = cast("dict[str, dict[str, Any]]", load_toml(_FILE.read_text("utf-8"), _FILE.name))
    return {name: _setting(entry) for name, entry in data.items()}


def _setting(entry: dict[str, Any]) -> Setting:
    _, word = TAKES_HOLD[entry["takes_hold"]]
    return Setting(**{"disturbs": word, "remark": "", **entry, "sources": tuple(entry["sources"])})


def setting_of(name: str) -> Setting | None:
    """A setting by name; a firmware parameter without an entry of its own is as any other."""
    general = settings()[_ANY_PARAMETER] if name.startswith(f"{_ANY_PARAMETER}.") else None
    return settings().get(name, general)


def disturbed(action: str, setting: str) -> str:
    """What a repair disturbs, where its rule does not say it."""
    known = setting_of(setting)
    return known.disturbs if known else UNKNOWN if setting else _BY_ACTION.get(action, UNKNOWN)


def way_back_of(setting: str) -> str:
    """What writing the old value restores; '' if that is not documented, or nothing is set."""
    known = setting_of(setting)
    return known.way_back if known else ""


def remark_on(setting: str, disturbs: str) -> str:
    """What to add to the word; '' if the rule has a word of its own."""
    known = setting_of(setting)
    return known.remark if known and known.disturbs == disturbs else ""


def wrong_disturbance(setting: str, disturbs: str) -> Iterator[str]:
    """What a rule's header can have wrong about it."""
    words = ", ".join(DISTURBANCES)
    if disturbs and disturbs not in DISTURBANCES:
        yield f"unknown disturbance {disturbs!r}; choose one of {words}"
    if setting and not disturbs and not setting_of(setting):
        yield f"unknown setting {setting!r}; if it is right, say what it disturbs: one of {words}"
