"""A CLI on a terminal: who is logged in, in which mode, and how ports are named there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lab.switch_writes.outcome import RefusedError

EXEC, ENABLE, CONFIG = "exec", "enable", "config"
_MOST = 512  # ports of one line


@dataclass
class Login:
    """One session on a terminal."""

    mode: str = EXEC
    session: str = ""  # of EOS: the configuration session that it is in
    chosen: list[int] = field(default_factory=list)  # ports, of `interface ...`
    label: str = ""  # what the prompt says of the place
    profile: str = ""
    queue: int = -1

    def leave(self) -> None:
        """Out of an interface, a profile or a queue, back to where they are configured."""
        self.chosen, self.label, self.profile, self.queue = [], "", "", -1


def chosen_ports(text: str, ports: Sequence[str], beginning: str) -> list[int]:
    """Ethernet1/1, 1/1-1/4, 1/1,1/5: the places of ports; RefusedError where one is not there."""
    found: list[int] = []
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        start = _at(first, ports, beginning)
        end = start
        if dash:
            whole = last if "/" in last else f"{first.rpartition('/')[0]}/{last}"
            end = _at(whole, ports, beginning)
        found += range(start, end + 1)
    if not found or len(found) > _MOST:
        raise RefusedError("% Invalid input")
    return found


def _at(text: str, ports: Sequence[str], beginning: str) -> int:
    number = re.sub(r"^[A-Za-z]+", "", text)
    name = f"{beginning}{number}"
    if name not in ports or not number:
        raise RefusedError("% Invalid input")
    return list(ports).index(name)
