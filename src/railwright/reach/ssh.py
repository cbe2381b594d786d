"""The system's own OpenSSH: the user's config, certificates, jump hosts, Kerberos as they are."""

import math
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from railwright.errors import ToolMissingError
from railwright.reach.bootstrap import NO_PYTHON
from railwright.reach.each import OneByOne, run_each
from railwright.reach.job import Job, Limits, Listener
from railwright.reach.process import Ended

SSH_FAILED = 255  # ssh's own exit status when it, not the command, failed

# What OpenSSH says -> what it means. First match wins; the words themselves are always kept.
_WORDS: tuple[tuple[str, str], ...] = (
    (re.escape(NO_PYTHON), "no python"),
    (r"REMOTE HOST IDENTIFICATION HAS CHANGED", "host key changed"),
    (r"Host key verification failed|No .* host key is known", "host key unknown"),
    (r"Permission denied \([^)]*(password|keyboard-interactive)", "wants a password"),
    (r"Permission denied|Too many authentication failures|no mutual signature", "denied"),
    (r"Could not resolve hostname", "unresolved"),
    (r"Connection refused", "refused"),
    (r"timed out|Connection to .* timeout|Timeout, server", "silent"),
    (r"No route to host|Network is unreachable|Host is down", "unreachable"),
    (r"Connection closed|Connection reset|closed by remote host|Broken pipe", "closed"),
    (r"invalid literal for int\(\)", "login script reads input"),
)
_PATTERNS = tuple((re.compile(words), status) for words, status in _WORDS)


def ssh_status(ended: Ended) -> str:
    """What an ssh that ended by itself tells about the machine."""
    if ended.exit_code == 0:
        return "answered"
    for pattern, status in _PATTERNS:
        # A refusal of ssh's own comes with 255; the last two lines above come from the far end.
        far_end = status in ("no python", "login script reads input")
        if pattern.search(ended.words) and (far_end or ended.exit_code == SSH_FAILED):
            return status
    if ended.exit_code == SSH_FAILED and not ended.bytes_received:
        return "failed"
    return "answered"


@dataclass(frozen=True)
class SshOptions:
    """What the operator adds to ssh's own configuration."""

    user: str = ""
    options: tuple[str, ...] = ()
    config: Path | None = None

    def arguments(self) -> tuple[str, ...]:
        """As ssh takes them."""
        return (
            *(("-F", str(self.config)) if self.config else ()),
            *(part for option in self.options for part in ("-o", option)),
            *(("-l", self.user) if self.user else ()),
        )


class SshTransport:
    """One ssh per machine."""

    name = "ssh"

    def __init__(self, options: SshOptions) -> None:
        found = shutil.which("ssh")
        if found is None:
            raise ToolMissingError(
                "ssh is not installed on this machine",
                why="Railwright connects with the system's OpenSSH client.",
                do="Install the OpenSSH client, or use --via local or --via slurm.",
            )
        self._ssh = found
        self._options = options.arguments()

    def argv(
        self, target: str, command: str, connect_s: float, *, terminal: bool = False
    ) -> list[str]:
        """The whole argument list. The user's own options come first: ssh takes the first value."""
        fixed = (
            "BatchMode=yes",  # never ask; a question is a status
            f"ConnectTimeout={max(1, math.ceil(connect_s))}",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            "ForwardX11=no",
            f"RequestTTY={'force' if terminal else 'no'}",
            "EscapeChar=none",  # what is sent is data, even a ~ at the beginning of a line
            "RemoteCommand=none",
            "PermitLocalCommand=no",
            "ServerAliveInterval=15",
        )
        options = tuple(part for option in fixed for part in ("-o", option))
        return [self._ssh, *self._options, *options, "--", target, *([command] if command else [])]

    async def run(self, targets: list[str], job: Job, limits: Limits, listener: Listener) -> None:
        """Run the job over ssh, `fan_out` machines at a time."""
        how = OneByOne(lambda target: self.argv(target, job.command, limits.connect_s), ssh_status)
        await run_each(targets, job, limits, listener, how)

    async def run_jobs(self, jobs: Mapping[str, Job], limits: Limits, listener: Listener) -> None:
        """The same where machines get different jobs, `fan_out` of them at a time."""

        def argv(target: str) -> list[str]:
            job = jobs[target]
            return self.argv(target, job.command, limits.connect_s, terminal=job.terminal)

        how = OneByOne(argv, ssh_status, jobs.__getitem__)
        await run_each(list(jobs), Job("", b""), limits, listener, how)
