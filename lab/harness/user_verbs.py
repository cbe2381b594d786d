"""Verbs as processes of an ordinary user, in a mount namespace of our own; what they said.

The hosts are a program that speaks as the runner does, so that a moment can be chosen. Needs root.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import railwright
from railwright.store.reader import Reader
from railwright.store.snapshot import load

USER = 65534
DISK = 64 << 20
PROBES = ("--probe", "cmdline", "--probe", "dmesg")
RUN_S = 120.0  # more than any verb here takes, however busy the machine is
FAULT = "railwright-fault-"  # a file with a traceback: somebody had no words for it

# What is started as `python3` on every host: it speaks as the runner does, with its own code, and
# waits where it is told to.
HOST = """#!{python} -ISB
import ast, json, os, random, sys, time, zlib
stream = sys.stdin.buffer
runner = {{"__name__": "runner"}}
exec(zlib.decompress(stream.read(int(stream.readline()))), runner)
request = ast.literal_eval(zlib.decompress(stream.read(int(stream.readline()))).decode("ascii"))
told = json.loads(os.environ["RAILWRIGHT_TEST_HOST"])
number = 0
while True:
    number += 1
    try:
        os.mkdir(os.path.join(told["folder"], "host-%d" % number))
        break
    except FileExistsError:
        pass
output = runner["Output"](request["run"])
output.frame(".hello", {{
    "hostname": "", "time": time.time(), "root": "no", "uid": 0,
    "planned": [[probe["name"], ""] for probe in request["probes"]]}})
line = "[%12d.000001] NVRM: Xid (PCI:%08x:18:00.0): %d\\n"
for probe in request["probes"]:
    answer = runner["new_answer"](probe, "")
    text = "F 6 /proc/cmdline\\nquiet\\n\\n"
    if probe["name"] == "dmesg":
        some = random.Random(number)
        picks = range(told.get("bytes", 0) // 60 + 1)
        text = "".join(line % (n, some.getrandbits(32), some.randrange(10**6)) for n in picks)
    answer["stdout"] = text.encode()
    output.answer(answer)
go, until = os.path.join(told["folder"], "go"), time.time() + 100
while number > told.get("free", 10**9) and not os.path.exists(go) and time.time() < until:
    time.sleep(0.02)
time.sleep(told.get("seconds", 0))
output.frame(".end", {{"frames": output.sequence, "root_runner": False, "seconds": 0}})
"""


@dataclass
class Said:
    """A verb that has ended, and what it printed on both ways out."""

    words: tuple[str, ...]
    status: int  # negative: the signal that ended it
    text: str
    began: float
    ended: float

    def made(self) -> list[str]:
        """The snapshot that it says it has made."""
        return re.findall(r"^Snapshot (\S+) in ", self.text, re.MULTILINE)

    def deleted(self) -> list[str]:
        """What it says it has deleted."""
        return re.findall(r"^deleted (\S+)$", self.text, re.MULTILINE)

    def targets(self) -> int:
        """How many machines it says that its snapshot has."""
        found = re.search(r"^(\d+) targets?: ", self.text, re.MULTILINE)
        return int(found[1]) if found else -1

    def unworded(self) -> str:
        """The sign that somebody had no words for what happened; '' if there is none."""
        signs = ("Traceback", "internal error", "Exception ignored", 'File "')
        return next((sign for sign in signs if sign in self.text), "")

    def fault(self) -> str:
        """Where it happened, if all that was said is what the last handler says of any error."""
        return f"{self}" if FAULT in self.text else ""

    def where(self) -> str:
        """The last lines of what was kept of a fault."""
        found = re.search(rf"\S*/{FAULT}\w+\.txt", self.text)
        if found is None or not Path(found[0]).is_file():
            return ""
        lines = Path(found[0]).read_text("utf-8", "replace").splitlines()
        return "\n".join([line for line in lines if line.startswith("  File")][-4:] + lines[-1:])

    def __str__(self) -> str:
        said = f"`railwright {' '.join(self.words)}` ended with {self.status}:\n{self.text}"
        return said + self.where()


@dataclass
class Running:
    """A verb under way."""

    words: tuple[str, ...]
    process: "subprocess.Popen[bytes]"
    printed: Path
    began: float = field(default_factory=time.time)

    def end(self, seconds: float = RUN_S) -> Said:
        """Wait for it; one that hangs is killed and has no words for that."""
        try:
            status = self.process.wait(seconds)
            late = ""
        except subprocess.TimeoutExpired:
            self.process.kill()
            status, late = self.process.wait(), f"\nTraceback: none, it hung for {seconds} s"
        text = self.printed.read_text("utf-8", "replace") + late
        self.printed.unlink()
        return Said(self.words, status, text, self.began, time.time())

    def until(self, seen: Callable[[], bool], seconds: float = RUN_S) -> bool:
        """Whether something came to be seen before it ended."""
        deadline = time.monotonic() + seconds
        while not _looked(seen):
            if self.process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True

    def signal(self, number: int) -> None:
        """To this process alone; it may be gone."""
        if self.process.poll() is None:
            self.process.send_signal(number)


def _looked(seen: Callable[[], bool]) -> bool:
    """What is given its name while somebody looks at it has not been seen yet."""
    try:
        return seen()
    except FileNotFoundError:
        return False


class Place:
    """A mount namespace of our own: disks of any size, and a user who can start this Python.

    The interpreter may lie below a folder that is closed to others, as /root is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)
        self.home = self.shared("home")
        self.temporary = self.shared("tmp")
        self._printed = self.shared("printed")
        programs = self.shared("bin")
        python = Path(sys.executable).resolve()
        (programs / "python3").write_text(HOST.format(python=python))
        (programs / "python3").chmod(0o755)
        self.path = f"{programs}:{os.environ['PATH']}"
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-ec", self._script()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != b"ready\n":
            raise RuntimeError("no mount namespace is to be had here")
        self._enter = ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt"]

    def shared(self, name: str) -> Path:
        """A folder that belongs to the user of the sessions."""
        made = self.folder / name
        made.mkdir(parents=True)
        os.chown(made, USER, USER)
        return made

    def shared_once(self, name: str) -> Path:
        """The same, made when it is first asked for."""
        made = self.folder / name
        return made if made.is_dir() else self.shared(name)

    def _script(self) -> str:
        """Bind what Python needs over the first folder on its way that others may not enter."""
        package = Path(railwright.__file__).resolve().parents[1]
        needed = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), package}
        closed = {shut for one in needed if (shut := _closed(one)) is not None}
        lines = []
        for number, shut in enumerate(sorted(closed)):
            below = [one for one in sorted(needed) if one.is_relative_to(shut)]
            held = [self.folder / "held" / f"{number}-{at}" for at in range(len(below))]
            for one, kept in zip(below, held, strict=True):
                lines += [f"mkdir -p '{kept}'", f"mount --rbind '{one}' '{kept}'"]
            lines.append(f"mount -t tmpfs -o mode=755 none '{shut}'")
            for one, kept in zip(below, held, strict=True):
                lines += [f"mkdir -p '{one}'", f"mount --rbind '{kept}' '{one}'"]
        return "\n".join([*lines, "echo ready", "exec cat"])

    def close(self) -> None:
        """The namespace goes with its last process, and all disks with it."""
        assert self._holder.stdin is not None
        assert self._holder.stdout is not None
        self._holder.stdin.close()
        self._holder.wait()
        self._holder.stdout.close()

    def root(self, *words: str) -> None:
        """A command of ours inside."""
        subprocess.run([*self._enter, *words], check=True, capture_output=True)

    def outside(self, path: Path) -> Path:
        """A path of a disk inside, as it is seen from here."""
        return Path(f"/proc/{self._holder.pid}/root") / path.relative_to("/")

    @contextmanager
    def disk(self, name: str, size: int = DISK) -> Iterator[Path]:
        """A disk that belongs to the user."""
        folder = self.shared(name)
        options = f"size={size},mode=700,uid={USER},gid={USER}"
        self.root("mount", "-t", "tmpfs", "-o", options, "none", str(folder))
        try:
            yield folder
        finally:
            self.root("umount", "--lazy", str(folder))

    def resize(self, disk: Path, size: int) -> None:
        """Larger or smaller; never smaller than what is there."""
        self.root("mount", "-o", f"remount,size={size}", str(disk))

    def environment(self, **more: str) -> dict[str, str]:
        """What a session starts with."""
        return {
            "PATH": self.path,
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "RAILWRIGHT_TEST_HOST": json.dumps({"folder": str(self.temporary)}),
            **more,
        }

    def command(self, *argv: str, user: int = USER) -> list[str]:
        """As that user, inside; the process that is started is the one that runs it."""
        to = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
        return [*self._enter, *to, *argv]

    def start(
        self,
        *words: str,
        user: int = USER,
        environment: dict[str, str] | None = None,
        program: tuple[str, ...] = ("-m", "railwright"),
    ) -> Running:
        """A verb; what it prints goes to a file, so that nobody has to listen."""
        handle, name = tempfile.mkstemp(dir=self._printed)
        process = subprocess.Popen(
            self.command(sys.executable, *program, *words, user=user),
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            env=environment or self.environment(),
            cwd="/",
        )
        os.close(handle)
        return Running(words, process, Path(name))

    def run(self, *words: str, user: int = USER, environment: dict[str, str] | None = None) -> Said:
        """A verb from its beginning to its end."""
        return self.start(*words, user=user, environment=environment).end()


def _closed(path: Path) -> Path | None:
    """The first folder on the way that others may not enter."""
    ways = [*reversed(path.parents), path]
    return next((way for way in ways if not way.stat().st_mode & 0o001), None)


@contextmanager
def place() -> Iterator[Place]:
    """One in a folder that goes afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="railwright-sessions-"))
    made = None
    try:
        made = Place(folder)
        yield made
    finally:
        if made is not None:
            made.close()
        shutil.rmtree(folder, ignore_errors=True)


def processes_of(sign: str) -> list[int]:
    """Processes that have this text in their environment: a session's, and all it started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environment = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if sign.encode() in environment and state not in "ZX":
                found.append(int(entry.name))
    return found


def arrived(folder: Path) -> frozenset[str]:
    """The machines that were done, as the spool of an unfinished snapshot says."""
    names = set()
    for spool in (folder / "spool").glob("target-*.ndjson"):
        for line in spool.read_text("utf-8").split("\n")[:-1]:
            row = json.loads(line)
            names |= {row["target"]} if row["status"] == "reached" else set()
    return frozenset(names)


def statuses(snapshot: Path) -> dict[str, str]:
    """Every machine of a snapshot, and what became of it."""
    with closing(Reader(load(snapshot))) as reader:
        return dict(reader.rows("SELECT target, status FROM target", []))
