"""Why a machine could not be read, in the words of those who mend it, and what to do about it."""

from typing import NamedTuple


class Unreached(NamedTuple):
    """What happened, and what helps."""

    happened: str
    do: str


_SSH = "check that it is up and that ssh reaches it"
_COLLECT = "railwright collect --try HOST shows what it answers"
# By the status that `collect` gave it (reach/job.py).
UNREACHED = {
    "refused": Unreached("ssh connection refused", "start sshd there, or name its port"),
    "unreachable": Unreached("no route to it", _SSH),
    "unresolved": Unreached("its name does not resolve", "correct the name, DNS or /etc/hosts"),
    "silent": Unreached("ssh timed out", _SSH),
    "closed": Unreached("ssh closed the connection at once", "read sshd's log there"),
    "denied": Unreached("ssh login denied", "set up the key of this account there"),
    "wants a password": Unreached("ssh asks for a password", "set up a key: none is prompted for"),
    "host key unknown": Unreached("ssh host key unknown", "verify it and add it to known_hosts"),
    "host key changed": Unreached("ssh host key changed", "find out why before you accept it"),
    "no python": Unreached("no Python 3.6 or later there", "install Python there"),
    "login script reads input": Unreached(
        "a login script reads its input", "keep it from reading where there is no terminal"
    ),
    "hanging": Unreached("logged in, then no output", f"look for a hung mount; {_COLLECT}"),
    "too slow": Unreached("output did not end in time", _COLLECT),
    "flooding": Unreached("more output than the byte limit", _COLLECT),
    "no slot": Unreached("the scheduler could not start a step", "check its state in Slurm"),
    "failed": Unreached("the command could not be run", _COLLECT),
    "damaged": Unreached("its answer was damaged", _COLLECT),
    "interrupted": Unreached("the run was interrupted", "collect again"),
    "not collected": Unreached("not asked in this run", "collect it too"),
}


def happened(status: str) -> str:
    """`ssh timed out`; a status of another version as it is."""
    return UNREACHED[status].happened if status in UNREACHED else status


def to_do(status: str, hosts: str = "") -> str:
    """What to do; with hosts, the command that reads them again."""
    helps = UNREACHED[status].do if status in UNREACHED else _SSH
    again = f"railwright collect -w {hosts} --onto latest" if hosts else "collect again"
    return f"{helps}; then {again}"
