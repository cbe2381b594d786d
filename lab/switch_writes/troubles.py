"""How a switch misbehaves when it is written to; each is ordered by its name and a place.

The place is a piece of the command, or of the file that it is given, that the trouble strikes; ''
is every write. What it means otherwise is said with it.
"""

from dataclasses import dataclass

IGNORED = "write_ignored"
LIES = "write_read_back_lies"
LINK_DOWN = "write_link_stays_down"
LINK_FLAPS = "write_link_flaps"
DISK_FULL = "write_disk_full"
HANGS_UP = "write_session_drops"
SECOND_WRITER = "write_second_writer"
HALF_WAY = "write_half_way"
ASIC_REFUSES = "write_asic_refuses"

TROUBLES = {
    IGNORED: "the command ends well and does nothing",
    LIES: "the switch shows the new value and goes on with the old one",
    LINK_DOWN: "links of the ports that are written stay down",
    LINK_FLAPS: "links of the ports that are written go up and down",
    DISK_FULL: "the configuration cannot be saved",
    HANGS_UP: "the connection ends in the middle of the commit",
    SECOND_WRITER: "somebody else writes first; the place is what: commands with ; between them",
    HALF_WAY: "the change fails half-way; a number as the place: after so many changes",
    ASIC_REFUSES: "CONFIG_DB takes the value, the ASIC does not",
}
# What only some systems can have: others are not written change by change, or have no CONFIG_DB.
ONLY = {HALF_WAY: ("sonic",), ASIC_REFUSES: ("sonic",)}


def possible(system: str) -> dict[str, str]:
    """What can be ordered of a switch of a system."""
    return {name: words for name, words in TROUBLES.items() if system in ONLY.get(name, (system,))}


@dataclass(frozen=True)
class Trouble:
    """One that is ordered."""

    name: str
    at: str = ""

    def strikes(self, text: str) -> bool:
        """Whether a command is one that it is about."""
        return self.name in (SECOND_WRITER, HALF_WAY) or self.at in text

    @property
    def words(self) -> str:
        """For `lab status`."""
        return f"{self.name} at {self.at}" if self.at else self.name
