"""What hosts do that they should not, on order."""

from dataclasses import dataclass, replace

# kind -> (what `at` names, what it does)
KINDS = {
    "set_ignored": ("a device, netdev, PCI address or path; all without it",
                    "a write is answered as done, and changes nothing"),
    "reverts_at_reset": ("a card; all without it",
                         "what waits for a reset is thrown away at that reset"),
    "lying_read_back": ("a device, netdev or PCI address; all without it",
                        "the tool that wrote shows the new value; in force is the old one"),
    "busy": ("a card; all without it", "its semaphore is taken: firmware tools fail"),
    "no_reset_level": ("a card; all without it", "the firmware offers no level but 0"),
    "never_returns": ("", "after the next reboot the host stays away"),
    "link_stays_down": ("a port; all without it",
                        "after the next bounce, reset or reboot its link stays down"),
    "link_flaps": ("a port; all without it",
                   "after the next bounce, reset or reboot its link comes and goes"),
    "disk_full": ("a path that begins so; all without it", "files cannot be written"),
    "second_writer": ("a device, netdev or path; all without it",
                      "somebody else runs `value` right before the next write there"),
    "second_writer_after": ("a device, netdev or path; all without it",
                            "somebody else runs `value` right after the next write there"),
    "address_changes": ("a card; all without it",
                        "the next firmware reset gives it another PCI address"),
}  # fmt: skip
# These happen once, then they are over.
ONCE = frozenset(
    {"never_returns", "second_writer", "second_writer_after", "address_changes",
     "reverts_at_reset"}
)  # fmt: skip


@dataclass(frozen=True)
class Misbehaviour:
    """One of them, at one place."""

    kind: str
    at: str = ""
    value: str = ""  # of a second writer: the command that it runs
    times: int = 0  # how often; 0 = until it is taken out, or once for those that happen once

    @property
    def words(self) -> str:
        """set_ignored at mlx5_3."""
        at = f" at {self.at}" if self.at else ""
        value = f": {self.value}" if self.value else ""
        return f"{self.kind}{at}{value}"


def used(one: Misbehaviour) -> Misbehaviour | None:
    """What is left of it when it has struck."""
    left = one.times or (1 if one.kind in ONCE else 0)
    if left == 1:
        return None
    return replace(one, times=left - 1) if left else one
