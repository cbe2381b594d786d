"""What a command gives back, and how a tool refuses."""

from typing import NamedTuple


class Outcome(NamedTuple):
    """Standard output, standard error, exit status."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


class RefusedError(Exception):
    """The tool or the kernel says no; what has been done before stays done."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.stderr or outcome.stdout)
        self.outcome = outcome


class KernelError(Exception):
    """The kernel's refusal of a system call: each tool has its own words for it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.words = ERRORS[name]


ERRORS = {
    "EBUSY": "Device or resource busy",
    "EINVAL": "Invalid argument",
    "ENODEV": "No such device",
    "ENOENT": "No such file or directory",
    "ENOMEM": "Cannot allocate memory",
    "ENOSPC": "No space left on device",
    "EOPNOTSUPP": "Operation not supported",
    "EACCES": "Permission denied",
    "EPERM": "Operation not permitted",
    "ERANGE": "Numerical result out of range",
    "EEXIST": "File exists",
    "EROFS": "Read-only file system",
}


def refused(stderr: str, code: int = 1) -> RefusedError:
    """One that a tool tells on its standard error."""
    return RefusedError(Outcome("", stderr, code))


def number(text: str, least: int = 0, most: int = 2**63 - 1) -> int | None:
    """A whole number of a command line, decimal or 0x; None where it is none, or out of range."""
    word = text.strip()
    try:
        value = int(word, 16 if word.lower().startswith("0x") else 10) if len(word) < 20 else None
    except ValueError:
        return None
    return value if value is not None and least <= value <= most else None
