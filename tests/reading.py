"""Running the runner and taking its output apart, for tests."""

import re
import subprocess
import sys
import zlib
from dataclasses import replace

from railwright.collect.frames import Frame, FrameReader
from railwright.collect.probe import Probe
from railwright.collect.request import Request
from railwright.reach.bootstrap import REMOTE_COMMAND

BARE = Probe(
    name="bare",
    title="a test probe",
    each="host",
    timeout_s=10,
    cap_bytes=1 << 20,
    cost="",
    disturbs="nothing",
    disturbs_source="test",
    needs_root="no",
)


def command(name: str, *argv: str, **changes: object) -> Probe:
    """A probe that runs a program, past the load-time checks."""
    return replace(BARE, name=name, tools=(argv[0],), argv=("{tool}", *argv[1:]), **changes)


def files(name: str, *globs: str, **changes: object) -> Probe:
    """A probe that reads files, past the load-time checks."""
    return replace(BARE, name=name, files=globs, **changes)


def request(*probes: Probe, seconds: float = 30, **changes: object) -> Request:
    return replace(Request("0badcafe", probes, seconds), **changes)


def start(
    asked: Request, argv: list[str] | None = None, **options: object
) -> "subprocess.Popen[bytes]":
    """The runner behind the one constant, its request already on its way."""
    process = subprocess.Popen(
        argv or ["/bin/sh", "-c", REMOTE_COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    process.stdin.write(asked.job().stdin)
    process.stdin.flush()
    return process


def output_of(process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
    """Everything it printed; its input stays open meanwhile, for closing it means "stop"."""
    with process:
        return process.stdout.read(), process.stderr.read()


def frames_of(output: bytes, run: str | None = "0badcafe") -> tuple[list[Frame], FrameReader]:
    reader = FrameReader(run)
    return reader.feed(output), reader


def answers(asked: Request, **options: object) -> dict[tuple[str, str], Frame]:
    """Run it to its end; every answer by probe and instance."""
    output, errors = output_of(start(asked, **options))
    found, reader = frames_of(output)
    assert reader.complete, (output[-2000:], errors)
    return {
        (frame.probe, str(frame.fields["instance"])): frame
        for frame in found
        if not frame.probe.startswith(".")
    }


def program_with(source: bytes) -> bytes:
    """Standard input for the bootstrap with another program."""
    packed = zlib.compress(source)
    return b"%d\n%s" % (len(packed), packed)


PYTHON = sys.executable


WRITING = re.compile(
    r"\b(mkdir|mkdirat|rmdir|unlink|unlinkat|rename\w*|link|linkat|symlink\w*|mknod\w*|mount|umount2|"
    r"move_mount|fsopen|init_module|finit_module|delete_module|chmod|fchmod\w*|chown|fchown\w*|"
    r"truncate|ftruncate|setxattr|utime\w*|creat|swapon|reboot|sethostname|ptrace)\("
)


def writes(trace: str) -> list[str]:
    """Every system call of a trace that could change a file system, a mount or the kernel."""
    found = []
    for line in trace.splitlines():
        opened = re.search(r"\bopen(at|at2)?\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)", line)
        if opened or WRITING.search(line):
            found.append(line)
    return found
