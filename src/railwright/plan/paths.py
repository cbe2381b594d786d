"""Which changes a plan may have: by what they stop, how far they reach, and the way back."""

from dataclasses import dataclass

from railwright.settings.setting import Setting

# What stops -> what `--allow` calls it; the rest stops nothing.
NAMED = {
    "link": "link",
    "driver": "reset",
    "firmware_reset": "reset",
    "reboot": "reboot",
    "power_cycle": "power-cycle",
    "switch_reload": "switch-reload",
}
ALLOWED = ("link", "reset", "reboot", "power-cycle", "switch-reload", "firmware")
# Path -> what it allows by itself, and whether what reaches far or costs as much to undo goes in.
PATHS: dict[str, tuple[frozenset[str], bool]] = {
    "conservative": (frozenset(), False),
    "aggressive": (frozenset({"link", "reset", "reboot"}), True),
}
_NEAR = ("none", "jobs", "link")


@dataclass(frozen=True)
class Limits:
    """What the operator allows."""

    path: str = "conservative"
    allow: frozenset[str] = frozenset()
    from_peers: bool = False  # where nobody names a value, that of like machines

    def held_back(self, setting: Setting, restart: str = "") -> str:
        """What would have to be allowed for it, given the restart it waits for; '' = nothing."""
        allowed, far = PATHS[self.path]
        takes_hold = restart or setting.takes_hold
        stops = "firmware" if setting.id == "nic.firmware" else NAMED.get(takes_hold, "")
        if stops in self.allow:
            return ""
        if stops and stops not in allowed:
            return f"--allow {stops}"
        is_near = setting.reach in _NEAR and setting.way_back == "exact"
        return "" if far or is_near else "--path aggressive"


def what_stops(setting: Setting) -> str:
    """What a change stops while it takes hold: nothing, a link, a card, the host, a switch.

    A daemon that restarts carries no packets.
    """
    if setting.disturbs in ("nothing", "new jobs", "service restart"):
        return "nothing"
    if setting.takes_hold in ("reboot", "power_cycle"):
        return "host"
    if setting.takes_hold in ("firmware_reset", "driver"):
        return "card"
    return "switch" if setting.takes_hold == "switch_reload" else "link"
