"""Frames whose numbers lie, come twice, too late, or in pieces."""

import base64
import gzip
import json
import os
import struct
import zlib
from functools import partial

from tests.hostile.far_end import FarEnd, answer_fields, frame_text, payload, scenario
from tests.hostile.words import MIB, card

frames = partial(scenario, "frames")
LSCPU = payload(answer_fields("lscpu", ""), b"{}")


@frames("reached")
def other_run(far: FarEnd) -> None:
    far.hello()
    for run in ("deadbeef", "00000000", far.run.upper() + "x", far.run + "rr"):
        far.body("lscpu", LSCPU, run=run, counts=False)
    far.end()


@frames("reached", "", "lscpu", look=True)
def root_stream(far: FarEnd) -> None:
    """A root runner that nobody announced."""
    far.hello()
    far.body("lscpu", LSCPU, run=far.run + "r", counts=False)
    far.end()


@frames("incomplete")
def root_stream_announced(far: FarEnd) -> None:
    """A root runner that never came."""
    far.hello()
    far.end(root_runner=True)


@frames("failed|damaged")
def root_stream_alone(far: FarEnd) -> None:
    """Only the root runner speaks: the host itself never said hello."""
    far.run += "r"
    far.hello()
    far.end()


@frames("reached", "lscpu", look=True)
def replay(far: FarEnd) -> None:
    """Said five times, each time something else: the first answer stands."""
    far.hello()
    for number in range(5):
        far.answer("lscpu", json.dumps({"lscpu": [{"field": "CPU(s):", "data": number}]}).encode())
    far.end()


@frames("reached")
def unknown_probe(far: FarEnd) -> None:
    far.hello()
    for probe in ("evil_probe", ".evil", ".sudo", "sonic_show", "kubernetes", "nccl_log", "base"):
        far.answer(probe, b"x")
    for probe in ("../../etc", "Lscpu", "lscpu;id", "x" * 60, "@"):
        far.body(probe, LSCPU, counts=False)
    far.end()


@frames("incomplete")
def bad_crc(far: FarEnd) -> None:
    far.hello()
    far.body("lscpu", LSCPU, crc="00000000")
    far.end()


@frames("incomplete")
def minus_crc(far: FarEnd) -> None:
    far.hello()
    for crc in ("-1", "1_0", "0x", "", "zz", "9" * 300):
        far.body("lscpu", LSCPU, crc=crc)
    far.end()


@frames("reached|incomplete", "", "lscpu")
def zero_lines(far: FarEnd) -> None:
    far.hello()
    far.body("lscpu", LSCPU, lines=0)
    far.end()


@frames("incomplete")
def lengths_that_lie(far: FarEnd) -> None:
    far.hello()
    for length in (0, 1, len(LSCPU) - 1, len(LSCPU) + 1, 9 * MIB, 10 * MIB, "9" * 400, "-1", "+5"):
        far.body("lscpu", LSCPU, length=length)
    far.end()


@frames("incomplete")
def counts_of_lines_that_lie(far: FarEnd) -> None:
    """More lines than follow: the next frame's head comes first."""
    far.hello()
    for lines in (2, 99, 23_592, 10**11, "9" * 400):
        far.body("lscpu", LSCPU, lines=lines)
    far.end()


def stored(data: bytes) -> bytes:
    """zlib's form without compressing: a scenario with many frames is to be quick."""
    size = struct.pack("<HH", len(data), len(data) ^ 0xFFFF)
    return b"\x78\x01\x01" + size + data + struct.pack(">I", zlib.adler32(data))


def absent_cards(far: FarEnd, probe: str, count: int) -> None:
    """Answers about cards that no host has."""
    for start in range(0, count, 1000):
        told = range(start, start + 1000)
        bodies = [payload({"instance": card(number), "status": "absent"}) for number in told]
        far.raw(b"".join(frame_text(far.run, 1, probe, b, zipped=stored(b)) for b in bodies))
    far.sent += count


@frames("flooding", "", "lscpu")
def frames_same_seq(far: FarEnd) -> None:
    """More frames than 20,000, all with one number, most of them said before."""
    far.hello()
    text = frame_text(far.run, 1, "lscpu", LSCPU) * 1000
    for _ in range(120):
        far.raw(text)
    far.end()


@frames("reached", "mlxlink", look=True)
def instances_by_the_thousand(far: FarEnd) -> None:
    """As many answers as frames are allowed."""
    far.hello()
    absent_cards(far, "mlxlink", 19_000)
    far.end()


@frames("reached")
def instances_that_none_has(far: FarEnd) -> None:
    """A probe of the host as a whole about parts of it, cards that are no cards."""
    far.hello()
    for number in range(500):
        far.answer("lscpu", b"{}", instance=str(number))
        far.answer("mlxlink", b"x", instance=f"{card(number)}{'x' * 200}")
        far.answer("ethtool", b"x", instance=f"eth{number}/../../etc/passwd")
    far.end()


@frames("incomplete", "", "dmesg")
def interleaved(far: FarEnd) -> None:
    """The lines of two frames of one stream, by turns: at most the later one is whole."""
    far.hello()
    text = os.urandom(3000)
    one = frame_text(far.run, 1, "lscpu", payload(answer_fields("lscpu", ""), text)).splitlines()
    two = frame_text(far.run, 2, "dmesg", payload(answer_fields("dmesg", ""), text)).splitlines()
    far.raw(b"".join(a + b"\n" + b + b"\n" for a, b in zip(one, two, strict=False)))
    far.sent += 2
    far.end()


@frames("reached", "lscpu dmesg")
def streams_by_turns(far: FarEnd) -> None:
    """The same from two streams is honest: a runner and its root runner."""
    far.hello()
    root = far.run + "r"
    one = frame_text(far.run, 1, "lscpu", LSCPU, width=40).splitlines(keepends=True)
    other = payload(answer_fields("dmesg", ""), b"x")
    two = frame_text(root, 0, "dmesg", other, width=40).splitlines(keepends=True)
    far.raw(b"".join(a + b for a, b in zip(one, two, strict=False)))
    shorter = min(len(one), len(two))
    far.raw(b"".join(one[shorter:] + two[shorter:]))
    far.raw(frame_text(root, 1, ".end", payload({"frames": 1, "root_runner": False})))
    far.sent += 1
    far.end(root_runner=True)


@frames("incomplete")
def half_base64(far: FarEnd) -> None:
    """Cut inside a group of four, of another alphabet, with signs in between."""
    far.hello()
    packed = base64.b64encode(zlib.compress(LSCPU)).decode()
    for text in (
        packed[:-3],
        packed[: len(packed) // 2],
        packed + "=",
        "=" + packed,
        "A",
        "-_" * 8,
    ):
        head = f"{far.run} {far.sent}"
        check = f"{zlib.crc32(LSCPU):08x}"
        far.raw(f"@rw1 {head} lscpu {len(LSCPU)} {check} 1\n@rw1 {head} + {text}\n".encode())
        far.sent += 1
    far.end()


@frames("incomplete")
def other_compressions(far: FarEnd) -> None:
    far.hello()
    raw = zlib.compress(LSCPU)[2:-4]
    for zipped in (gzip.compress(LSCPU), raw, LSCPU, b"", zlib.compress(LSCPU)[:-4]):
        far.body("lscpu", LSCPU, zipped=zipped)
    far.end()


@frames("reached|incomplete", "", "lscpu")
def more_behind_the_stream(far: FarEnd) -> None:
    """Megabytes behind the end of what is compressed: announced nowhere, kept nowhere."""
    far.hello()
    far.body("lscpu", LSCPU, zipped=zlib.compress(LSCPU) + os.urandom(2 * MIB))
    far.end()


@frames("incomplete")
def long_lines(far: FarEnd) -> None:
    far.hello()
    far.body("lscpu", payload(answer_fields("lscpu", ""), os.urandom(5000)), width=5000)
    far.end()


@frames("incomplete|reached", "", "lscpu")
def end_twice(far: FarEnd) -> None:
    far.hello()
    far.end()
    far.answer("lscpu", b"{}")
    far.end(frames=99)


@frames("incomplete|reached")
def end_first(far: FarEnd) -> None:
    far.end()
    far.hello()


@frames("incomplete", "lscpu")
def end_lies(far: FarEnd) -> None:
    """One more than came; what was announced and never came is missing."""
    far.hello(planned=[["lscpu", ""], ["dmesg", ""], ["mlxlink", "0000:18:00.0"]])
    far.answer("lscpu", b"{}")
    far.end(frames=3)


@frames("incomplete", "lscpu dmesg")
def end_forgets(far: FarEnd) -> None:
    """One fewer than came."""
    far.hello()
    far.answer("lscpu", b"{}")
    far.answer("dmesg", b"")
    far.end(frames=2)


@frames("incomplete|reached")
def end_of_another_type(far: FarEnd) -> None:
    """`true` is 1 for Python."""
    far.hello()
    far.end(frames=True, root_runner="yes")


@frames("incomplete", "lscpu")
def no_last_newline(far: FarEnd) -> None:
    far.hello()
    far.answer("lscpu", b"{}")
    told = payload({"frames": far.sent, "root_runner": False})
    far.raw(frame_text(far.run, far.sent, ".end", told).rstrip(b"\n"))


@frames("reached", "lscpu")
def byte_by_byte(far: FarEnd) -> None:
    far.hello()
    for byte in frame_text(far.run, 1, "lscpu", LSCPU, width=20):
        far.raw(bytes([byte]))
    far.sent += 1
    far.end()


@frames("reached", "lscpu")
def noise_between(far: FarEnd) -> None:
    """NUL bytes, line ends of other systems, and what looks almost like a frame."""
    odd = b"\0" * 5000 + b"\r\n\r\r\n@rw1\n@rw1 x\n@rw1 " + far.run.encode() + b" 1 + AAAA\n"
    far.raw(odd)
    far.hello()
    far.raw(odd * 20)
    far.raw(frame_text(far.run, 1, "lscpu", LSCPU).replace(b"\n", b"\r\n"))
    far.sent += 1
    far.raw(odd + b"\n")
    far.end()
