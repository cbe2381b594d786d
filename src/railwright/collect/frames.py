"""What comes back from a machine: frames, and whatever else its login scripts print.

Hostile input: lengths, counts, checksums, compressed sizes and field types are all checked, and
nothing that a machine sends can make this reader keep more than its caps.
"""

import base64
import binascii
import json
import re
import tempfile
import zlib
from dataclasses import dataclass, field
from functools import partial

from railwright.store.evidence import in_words

MARK = b"@rw1"
LONGEST_LINE = 1024  # the runner's lines are shorter; a longer one is not ours
LARGEST_PAYLOAD = 9 * 1024 * 1024  # the largest cap of a probe (8 MiB) and its head
LARGEST_HEAD = 512 * 1024  # 20,000 planned answers of a hello; JSON unfolds to forty times its size
KEPT_IN_MEMORY = 64 * 1024  # of an open frame; of hundreds of machines all may have one open
MOST_FRAMES = 20_000  # 16 NICs x 20 probes is 320; a machine that sends more is broken
# All answers of one machine, unpacked: an 8-GPU host gives 2 MB, and zlib can fold 1,000 to 1.
LARGEST_MACHINE = 64 * 1024 * 1024
NOISE_CAP = 1024

_NAME = re.compile(rb"[.a-z][a-z0-9_]{0,40}")


class OversizedHeadError(Exception):
    """No runner writes such a head: whoever sends it is taken apart no further."""


@dataclass
class Frame:
    """One answer, its bytes still as the machine gave them."""

    stream: str  # the run id, with an "r" behind it for the root runner
    sequence: int
    probe: str
    fields: dict[str, object]
    stdout: bytes
    stderr: bytes
    packed: bytes = b""  # the payload as it travelled: base64 of zlib


@dataclass
class _Open:
    sequence: int
    probe: str
    length: int
    checksum: int
    lines: int
    body: "tempfile.SpooledTemporaryFile[bytes]" = field(
        default_factory=partial(tempfile.SpooledTemporaryFile, KEPT_IN_MEMORY)
    )

    def take_line(self, body: bytes) -> None:
        with in_words():
            self.body.write(body)
        self.lines -= 1

    def take_all(self) -> bytes:
        with in_words(), self.body:
            self.body.seek(0)
            return self.body.read()


class FrameReader:
    """Bytes of one machine in, frames out; what is no frame is counted and its beginning kept."""

    def __init__(self, run: str | None) -> None:
        self._run = run  # None: take the run id of the first frame (a file made by a lone runner)
        self._rest = b""
        self._skipping = False
        self._open: dict[str, _Open] = {}
        self._seen: dict[str, int] = {}
        self._declared: dict[str, int] = {}
        self.root_runner_announced = False
        self.noise = b""
        self.noise_bytes = 0
        self.damaged = 0
        self.unpacked = 0
        self.frames = 0

    @property
    def overflowing(self) -> bool:
        """Whether the machine's answers, unpacked, are more than any machine has to say."""
        return self.unpacked > LARGEST_MACHINE or self.frames > MOST_FRAMES

    @property
    def complete(self) -> bool:
        """Whether every stream said how many frames it sent, and that many came."""
        streams = {self._run or ""} | ({f"{self._run}r"} if self.root_runner_announced else set())
        return all(
            stream in self._declared and self._seen.get(stream) == self._declared[stream]
            for stream in streams
        )

    def feed(self, data: bytes) -> list[Frame]:
        """Take the next bytes; give the frames that they complete."""
        frames = []
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if self._skipping:
                self._skipping = False
                self._add_noise(line)
            else:
                frame = self._line(line.rstrip(b"\r"))
                if frame is not None:
                    frames.append(frame)
        if len(self._rest) > LONGEST_LINE:  # a stream without newline is never kept in memory
            self._add_noise(self._rest)
            self._rest = b""
            self._skipping = True
        return frames

    def _add_noise(self, data: bytes) -> None:
        self.noise_bytes += len(data)
        if len(self.noise) < NOISE_CAP:
            self.noise = (self.noise + data + b"\n")[:NOISE_CAP]

    def _line(self, line: bytes) -> Frame | None:
        words = line.split(b" ")
        if len(line) <= LONGEST_LINE and words[0] == MARK and len(words) >= 5:
            stream = self._stream(words[1])
            if stream and words[2].isdigit() and len(words[2]) < 7:
                if words[3] == b"+" and len(words) == 5:
                    return self._body(stream, int(words[2]), words[4])
                if len(words) == 7 and self._head(stream, words[2:]):
                    return None
        if line:
            self._add_noise(line)
        return None

    def _stream(self, word: bytes) -> str:
        if not re.fullmatch(rb"[0-9a-f]{8}r?", word):
            return ""
        name = word.decode("ascii")
        if self._run is None:
            self._run = name.removesuffix("r")
        return name if name.removesuffix("r") == self._run else ""

    def _head(self, stream: str, words: list[bytes]) -> bool:
        sequence, probe, length, checksum, lines = words
        if not (_NAME.fullmatch(probe) and length.isdigit() and lines.isdigit()):
            return False
        size, count = int(length[:12]), int(lines[:12])
        if size > LARGEST_PAYLOAD or count > LARGEST_PAYLOAD // 400:
            return False
        try:
            crc = int(checksum, 16)
        except ValueError:
            return False
        if stream in self._open:
            self.damaged += 1  # the one before never got its last line
            self._open.pop(stream).body.close()
        self._open[stream] = _Open(int(sequence), probe.decode("ascii"), size, crc, count)
        return True

    def _body(self, stream: str, sequence: int, body: bytes) -> Frame | None:
        opened = self._open.get(stream)
        if opened is None or opened.sequence != sequence:
            self._add_noise(body)
            return None
        opened.take_line(body)
        if opened.lines > 0:
            return None
        del self._open[stream]
        self.unpacked += opened.length
        self.frames += 1
        frame = None if self.overflowing else _decode(stream, opened)
        if frame is None:
            self.damaged += 1
            return None
        self._seen[stream] = self._seen.get(stream, 0) + 1
        if frame.probe == ".end":
            self._end(stream, frame)
        return frame

    def _end(self, stream: str, frame: Frame) -> None:
        count = frame.fields.get("frames")
        # `.end` counts the frames before it and is one itself.
        self._declared[stream] = count + 1 if isinstance(count, int) else -1
        if frame.fields.get("root_runner") is True:
            self.root_runner_announced = True


def _decode(stream: str, opened: _Open) -> Frame | None:
    """The frame, or None where anything about it does not agree."""
    packed = opened.take_all()
    try:
        head, _, rest = _unpack(packed, opened).partition(b"\n")
        if len(head) > LARGEST_HEAD:
            raise OversizedHeadError
        fields = json.loads(head)
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    out, err = fields.pop("stdout", None), fields.pop("stderr", None)
    if not isinstance(out, int) or not isinstance(err, int) or out < 0 or out + err != len(rest):
        return None
    return Frame(stream, opened.sequence, opened.probe, fields, rest[:out], rest[out:], packed)


def _unpack(packed: bytes, opened: _Open) -> bytes:
    """What travelled as base64 of zlib; ValueError unless it is what its head announced."""
    unpacker = zlib.decompressobj()
    zipped = base64.b64decode(packed, validate=True)
    payload = unpacker.decompress(zipped, opened.length)  # never more than it announced
    whole = len(payload) == opened.length and unpacker.eof and not unpacker.unconsumed_tail
    if not whole or zlib.crc32(payload) != opened.checksum:
        raise ValueError
    return payload
