"""Frames: any chunking gives the same answers, and nothing hostile costs memory or raises."""

import base64
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.collect.frames import (
    LARGEST_MACHINE,
    NOISE_CAP,
    FrameReader,
    OversizedHeadError,
)

RUN = "0badcafe"


def frame(seq: int, probe: str, payload: bytes, *, run: str = RUN, width: int = 840) -> bytes:
    """A frame written by hand from the format's description, not by the runner's code."""
    body = base64.b64encode(zlib.compress(payload))
    lines = [body[at : at + width] for at in range(0, len(body), width)]
    head = f"@rw1 {run} {seq} ".encode()
    first = head + f"{probe} {len(payload)} {zlib.crc32(payload):08x} {len(lines)}\n".encode()
    return first + b"".join(head + b"+ " + line + b"\n" for line in lines)


def payload(stdout: bytes = b"", stderr: bytes = b"", extra: bytes = b"") -> bytes:
    head = b'{"instance":""%s,"stdout":%d,"stderr":%d}\n' % (extra, len(stdout), len(stderr))
    return head + stdout + stderr


WHOLE = (
    frame(0, ".hello", payload())
    + frame(1, "pci", payload(bytes(range(256)) * 50, b"warning"))
    + frame(2, ".end", payload(extra=b',"frames":2'))
)


def test_a_whole_stream() -> None:
    reader = FrameReader(RUN)
    found = reader.feed(WHOLE)
    assert [f.probe for f in found] == [".hello", "pci", ".end"]
    assert found[1].stdout == bytes(range(256)) * 50
    assert found[1].stderr == b"warning"
    assert reader.complete
    assert reader.noise == b""


@settings(max_examples=60)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=60))
def test_any_chunking_gives_the_same(sizes: list[int]) -> None:
    reader, found, at = FrameReader(RUN), [], 0
    for size in sizes:
        found += reader.feed(WHOLE[at : at + size])
        at += size
    found += reader.feed(WHOLE[at:])
    assert [f.probe for f in found] == [".hello", "pci", ".end"]
    assert reader.complete


def test_noise_between_lines_is_kept_apart_and_capped() -> None:
    lines = WHOLE.split(b"\n")
    noisy = b"Welcome to gpu017\n" + b"\nwall: reboot at 5\n".join(lines) + b"x" * 5000
    reader = FrameReader(RUN)
    assert len(reader.feed(noisy + b"\n")) == 3
    assert reader.complete
    assert reader.noise.startswith(b"Welcome to gpu017\nwall: reboot")
    assert len(reader.noise) == NOISE_CAP
    assert reader.noise_bytes > 5000


def test_carriage_returns_of_a_pty_do_no_harm() -> None:
    reader = FrameReader(RUN)
    assert len(reader.feed(WHOLE.replace(b"\n", b"\r\n"))) == 3


def test_no_last_frame_is_incomplete() -> None:
    reader = FrameReader(RUN)
    reader.feed(frame(0, ".hello", payload()) + frame(1, "pci", payload(b"x")))
    assert not reader.complete


def test_a_lost_frame_is_incomplete_even_with_a_last_one() -> None:
    reader = FrameReader(RUN)
    reader.feed(frame(0, ".hello", payload()) + frame(2, ".end", payload(extra=b',"frames":2')))
    assert not reader.complete


def test_a_root_runner_that_was_announced_must_end_too() -> None:
    main = frame(0, ".hello", payload()) + frame(
        1, ".end", payload(extra=b',"frames":1,"root_runner":true')
    )
    reader = FrameReader(RUN)
    reader.feed(main)
    assert not reader.complete
    reader.feed(frame(0, ".hello", payload(), run=RUN + "r"))
    reader.feed(frame(1, ".end", payload(extra=b',"frames":1'), run=RUN + "r"))
    assert reader.complete


def test_a_flipped_bit_damages_one_frame_only() -> None:
    body = bytearray(frame(1, "pci", payload(b"secret of the machine")))
    body[-5] = ord("A") if body[-5] != ord("A") else ord("B")
    reader = FrameReader(RUN)
    found = reader.feed(frame(0, ".hello", payload()) + bytes(body) + frame(2, "nic", payload()))
    assert [f.probe for f in found] == [".hello", "nic"]
    assert reader.damaged == 1


def test_frames_of_another_run_are_noise() -> None:
    reader = FrameReader(RUN)
    assert reader.feed(frame(0, "pci", payload(), run="deadbeef")) == []
    assert reader.noise_bytes > 0


def test_a_compressed_bomb_never_unfolds() -> None:
    bomb = zlib.compress(b"\0" * 200_000_000, 9)
    body = base64.b64encode(bomb)
    lines = [body[at : at + 840] for at in range(0, len(body), 840)]
    head = b"@rw1 " + RUN.encode() + b" 0 "
    data = head + b"pci 100 00000000 %d\n" % len(lines)
    data += b"".join(head + b"+ " + line + b"\n" for line in lines)
    reader = FrameReader(RUN)
    assert reader.feed(data) == []
    assert reader.damaged == 1


def test_many_frames_that_unpack_to_much_are_a_flood() -> None:
    reader = FrameReader(RUN)
    stdout = b"\0" * (8 << 20)
    whole = payload(stdout)
    data = frame(1, "pci", whole)
    kept = 0
    for _ in range(12):
        kept += sum(len(found.stdout) for found in reader.feed(data))
    assert reader.overflowing
    assert kept <= LARGEST_MACHINE


def test_what_many_machines_leave_open_is_not_kept_in_memory() -> None:
    """Each begins a frame as large as there is, on both streams, and never ends it."""
    readers = [FrameReader(RUN) for _ in range(20)]
    line = b"A" * 980 + b"\n"
    tracemalloc.start()
    for reader in readers:
        for run in (RUN, RUN + "r"):
            head = b"@rw1 " + run.encode() + b" 1 "
            reader.feed(head + b"lscpu 9437184 00000000 23592\n")
            for _ in range(5):
                reader.feed((head + b"+ " + line) * 200)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 << 20  # of 40 MB that were sent


def test_a_head_that_no_runner_writes_is_not_unfolded() -> None:
    """Three bytes each on the way, sixty as an object."""
    objects = b',"x":[' + b"{}," * 200_000 + b"{}]"
    with pytest.raises(OversizedHeadError):
        FrameReader(RUN).feed(frame(1, "pci", payload(extra=objects)))


def test_a_stream_without_newline_is_not_kept() -> None:
    reader = FrameReader(RUN)
    for _ in range(100):
        reader.feed(b"y" * 65536)
    assert reader.noise_bytes > 6_000_000
    assert len(reader.noise) <= NOISE_CAP
    assert len(reader.feed(b"\n" + WHOLE)) == 3


@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(0, len(WHOLE)), st.integers(0, 200))
def test_hostile_bytes_never_raise(junk: bytes, at: int, cut: int) -> None:
    reader = FrameReader(RUN)
    for found in reader.feed(WHOLE[:at] + junk + WHOLE[at + cut :] + b"\n"):
        assert isinstance(found.fields, dict)


@settings(max_examples=100)
@given(
    st.lists(st.text(alphabet=" @rw10badcafe+.peci\n0123456789abcdef", max_size=60), max_size=30)
)
def test_lines_that_look_like_ours_never_raise(lines: list[str]) -> None:
    reader = FrameReader(RUN)
    reader.feed("\n".join("@rw1 0badcafe " + line for line in lines).encode() + b"\n")
    assert not reader.complete
