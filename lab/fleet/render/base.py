"""What a renderer gives: what one command of one host says, word for word.

A renderer module has one or both of

    def commands(host: HostModel) -> Iterator[Said]      every command line that it answers
    def files(host: HostModel) -> dict[str, str]         absolute path -> content; not /sys/bus/pci,
                                                         /sys/class/net and /sys/class/infiniband

The same answers are printed live by the lab's hosts and held to the project's samples.
"""

from typing import NamedTuple


class Said(NamedTuple):
    """One command and its answer."""

    command: str  # the program's name and its arguments, joined by single blanks
    stdout: str
    stderr: str = ""
    code: int = 0
