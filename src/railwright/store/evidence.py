"""Evidence: what a machine answered, byte for byte, and how it is kept on the way to Parquet."""

import base64
import contextlib
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import duckdb

from railwright.errors import SnapshotError

# name -> (type in the spool, type in Parquet)
EVIDENCE_COLUMNS = {
    "target": ("VARCHAR", "VARCHAR"),
    "probe": ("VARCHAR", "VARCHAR"),
    "instance": ("VARCHAR", "VARCHAR"),
    "argv": ("VARCHAR[]", "VARCHAR[]"),
    "status": ("VARCHAR", "VARCHAR"),
    "reason": ("VARCHAR", "VARCHAR"),
    "exit_code": ("INTEGER", "INTEGER"),
    "stdout": ("VARCHAR", "BLOB"),
    "stderr": ("VARCHAR", "BLOB"),
    "started": ("DOUBLE", "TIMESTAMP"),
    "duration_s": ("DOUBLE", "DOUBLE"),
    "truncated": ("BOOLEAN", "BOOLEAN"),
    "dropped": ("BIGINT", "BIGINT"),
}

OUTDATED = "outdated"
# What an answer's status says. Only `ok` is parsed; every other one leaves its facts unknown.
ANSWER_STATUSES = {
    "ok": "read",
    "absent": "the tool, the files or the device is not on this host",
    "denied": "needs root, and root was not to be had",
    "skipped": "not run, because running it would disturb the machine",
    "not readable without a write": "reading it would change the machine first",
    "timeout": "no answer in the probe's time",
    "device busy": "the device was busy, twice",
    "cut": "more output than the probe's cap",
    "failed": "the command ended with an error",
    "missing": "announced by the host, never arrived",
    "not understood": "read, but no parser knows this output",
    OUTDATED: "parsed by another version: railwright store upgrade parses it again",
}

# Those that leave a gap: something is there, or may be, and could not be read. The others say that
# there is nothing to read, or that reading it was not worth what it would do.
GAPS = ("denied", "timeout", "device busy", "cut", "failed", "missing", "not understood", OUTDATED)


@dataclass(frozen=True)
class Answer:
    """One row of evidence."""

    target: str
    probe: str
    instance: str
    status: str
    reason: str = ""
    argv: list[str] = field(default_factory=list)
    exit_code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    started: float = 0.0
    duration_s: float = 0.0
    truncated: bool = False
    dropped: int = 0
    # base64 of zlib of (a line, then stdout, then stderr): as it came from the machine, if it did.
    packed: bytes = b""

    def spool_line(self) -> str:
        """One line of JSON, the bytes still packed: a twentieth of what they unfold to."""
        row = {name: getattr(self, name) for name in _PLAIN}
        packed = self.packed or base64.b64encode(zlib.compress(b"\n" + self.stdout + self.stderr))
        row["sizes"] = [len(self.stdout), len(self.stderr)]
        row["packed"] = packed.decode("ascii")
        return json.dumps(row)

    def evidence_line(self) -> Iterator[bytes]:
        """One line of JSON in pieces, the bytes as plain base64: what DuckDB can read.

        Put together by hand and never whole: there are megabytes of it, without a quote in them.
        """
        yield json.dumps({name: getattr(self, name) for name in _PLAIN}).encode("ascii")[:-1]
        yield b', "stdout": "'
        yield base64.b64encode(self.stdout)
        yield b'", "stderr": "'
        yield base64.b64encode(self.stderr)
        yield b'"}\n'


HEAD_BYTES = 4096  # of the line before the output; longer ones only cost another copy
_PLAIN = [name for name in EVIDENCE_COLUMNS if name not in ("stdout", "stderr")]


def read_spool_line(line: str) -> Answer | None:
    """The answer of one line; None for a last line that was torn off."""
    try:
        row = json.loads(line)
        out, error = row.pop("sizes")
        room = out + error + HEAD_BYTES  # in one piece, not grown and copied again and again
        unpacked = zlib.decompress(base64.b64decode(row.pop("packed")), bufsize=room)
        start = unpacked.index(b"\n") + 1
    except (ValueError, KeyError, zlib.error):
        return None
    end = start + out
    return Answer(**row, stdout=unpacked[start:end], stderr=unpacked[end : end + error])


class Spool:
    """A file of rows that grows line by line; a crash can cost its last line, no more."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._number = 0
        self._file: TextIO | None = None
        self._path = folder
        self.size = 0

    def write(self, line: str) -> None:
        """Append one row."""
        with in_words():
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._path = self._folder / f"{self._name}-{self._number:05d}.ndjson"
                self._number += 1
                self._file = self._path.open("a", encoding="utf-8")
                self.size = 0
            self._file.write(line + "\n")
        self.size += len(line) + 1

    def flush(self) -> None:
        """Hand everything to the operating system: it then survives the end of this process."""
        if self._file is not None:
            with in_words():
                self._file.flush()

    def take(self) -> Path | None:
        """Close the current file and give it away; None if nothing was written."""
        if self._file is None:
            return None
        with in_words():
            self._file.close()
        self._file = None
        return self._path


def drop_torn_line(file: Path) -> None:
    """What was cut off in the middle of its last line ends with the line before."""
    with file.open("r+b") as spool:
        at = spool.seek(0, os.SEEK_END)
        while at:
            start = max(at - 65536, 0)
            spool.seek(start)
            found = spool.read(at - start).rfind(b"\n")
            if found >= 0:
                at = start + found + 1
                break
            at = start
        spool.truncate(at)


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """A disk that is full or cannot be written, in words; what had arrived by then is kept."""
    try:
        yield
    except OSError as error:
        raise _not_written(error.strerror or str(error)) from error
    except duckdb.IOException as error:
        raise _not_written(str(error).splitlines()[0]) from error


def _not_written(why: str) -> SnapshotError:
    return SnapshotError(
        f"writing the snapshot failed: {why}",
        why="The data collected so far is still in the spool.",
        do="Free disk space if that is the reason, then: railwright store finish",
    )
