"""Much where little was asked for: by the wire, and by what a little unfolds to."""

import os
import zlib
from functools import partial

from tests.hostile.far_end import FarEnd, scenario
from tests.hostile.fields import EITHER
from tests.hostile.frames import LSCPU
from tests.hostile.words import MIB, card

floods = partial(scenario, "floods")
bombs = partial(scenario, "floods")


def fill(start: bytes, piece: bytes, end: bytes, size: int = 8 * MIB) -> bytes:
    """`piece` again and again, as often as `size` bytes hold."""
    return start + piece * ((size - len(start) - len(end)) // len(piece)) + end


@bombs("flooding", "", "mlxlink")
def bomb(far: FarEnd) -> None:
    """40 answers of 8 MiB in half a megabyte."""
    far.hello()
    for number in range(40):
        far.answer("mlxlink", bytes(8 * MIB), instance=card(number))
    far.end()


@bombs("incomplete")
def bomb_beyond_its_length(far: FarEnd) -> None:
    """Unpacks to 128 MB, and announces a few bytes."""
    far.hello()
    packer = zlib.compressobj(1)
    zipped = b"".join(packer.compress(bytes(MIB)) for _ in range(128)) + packer.flush()
    far.body("lscpu", LSCPU, zipped=zipped)
    far.end()


@bombs(EITHER + "|failed|incomplete|flooding")
def hello_of_empty_lists(far: FarEnd) -> None:
    """9 KB on the wire, 9 MB of JSON, 200 MB as Python's lists."""
    body = fill(b'{"hostname":"e","stdout":0,"stderr":0,"planned":[', b"[],", b"[]]}\n")
    far.body(".hello", body)
    far.end()


@bombs(EITHER + "|incomplete|flooding", "", "mlxlink", look=True)
def head_of_empty_objects(far: FarEnd) -> None:
    """The same in the head of an answer, seven times."""
    far.hello()
    for number in range(7):
        start = b'{"instance":"%s","status":"ok","stdout":0,"stderr":0,"x":['
        far.body("mlxlink", fill(start % card(number).encode(), b"{},", b"{}]}\n"))
    far.end()


@bombs(EITHER + "|failed|incomplete|flooding")
def hello_of_many_keys(far: FarEnd) -> None:
    """A million fields, no two of one name."""
    keys = b"".join(b'"%x":0,' % number for number in range(800_000))
    far.body(".hello", b'{"hostname":"e",' + keys + b'"stdout":0,"stderr":0}\n')
    far.end()


# Of the next ones some are as large as a frame can be, others as an honest runner would send at most.


@bombs("reached", "lldpctl")
def filter_of_empty_lists(far: FarEnd) -> None:
    """JSON for the filter that keeps keys: unfolded, copied, and written again."""
    far.hello()
    far.answer("lldpctl", fill(b'{"lldp":[', b"[],", b"[]]}"))
    far.end()


@bombs("reached", "ip_route")
def rows_of_empty_objects(far: FarEnd) -> None:
    far.hello()
    far.answer("ip_route", fill(b"[", b"{},", b"{}]", far.caps["ip_route"]))
    far.end()


@bombs("reached", "ip_route")
def numbers_of_nothing(far: FarEnd) -> None:
    """No object and no line among them: four bytes each on the way, sixty where they are read."""
    far.hello()
    far.answer("ip_route", fill(b"[", b"999,", b"9]"))
    far.end()


@bombs("reached", "dmesg nvidia_smi")
def lines_of_returns(far: FarEnd) -> None:
    """Lines as splitlines() knows them, none of which ends with a newline."""
    far.hello()
    far.answer("dmesg", fill(b"[", b"1\r", b"\n"))
    far.answer("nvidia_smi", fill(b"0, ", b"1\x0c\xc2\x85", b"\n"))
    far.end()


@bombs("reached", "pci")
def files_of_nothing(far: FarEnd) -> None:
    """Hundreds of thousands of files without a byte in them."""
    far.hello()
    far.answer("pci", b"".join(b"F 0 /%x\n\n" % number for number in range(600_000)))
    far.end()


@bombs("reached", "dmesg ethtool_statistics", look=True)
def lines_of_nothing(far: FarEnd) -> None:
    """A million lines, no two alike."""
    far.hello()
    lines = b"".join(b"%x\n" % number for number in range(1_000_000))
    far.answer("dmesg", lines[: far.caps["dmesg"]])
    far.answer("ethtool_statistics", lines)
    far.end()


@bombs("reached", "lspci", look=True)
def one_line(far: FarEnd) -> None:
    """A line of 8 MB."""
    far.hello()
    far.answer("lspci", fill(b"00:00.0 ", b"x: ", b"\n"))
    far.end()


# A flood ends at the limit of bytes or, on a busy machine, at that of time.


@floods("flooding|too slow")
def flood(far: FarEnd) -> None:
    for _ in range(60):
        far.raw(b"x" * MIB)


@floods("flooding|too slow")
def flood_lines(far: FarEnd) -> None:
    for _ in range(60):
        far.raw(b"yyyyyyy\n" * (MIB // 8))


@floods("reached|flooding|incomplete", "", "mlxlink", look=True)
def flood_answers(far: FarEnd) -> None:
    """27 MB of answers that nothing can compress: below the bound of 32."""
    far.hello()
    for number in range(5):
        far.answer("mlxlink", os.urandom(4 * MIB), instance=card(number))
    far.end()


def open_frames(far: FarEnd, runs: tuple[str, ...], lines: int) -> None:
    for run in runs:
        far.raw(f"@rw1 {run} 1 lscpu {9 * MIB} 00000000 23592\n".encode())
        piece = f"@rw1 {run} 1 + {'A' * 980}\n".encode() * 100
        for _ in range(lines // 100):
            far.raw(piece)


@floods("flooding|incomplete")
def openframe(far: FarEnd) -> None:
    """Heads without their last line, on both streams, as much as the bound of bytes allows."""
    far.hello()
    open_frames(far, (far.run, far.run + "r"), 15_000)


@floods("incomplete")
def openframe_restarted(far: FarEnd) -> None:
    """A new head before the last line, again and again."""
    far.hello()
    for _ in range(20):
        open_frames(far, (far.run,), 1000)


@floods("flooding|incomplete")
def flood_of_heads(far: FarEnd) -> None:
    """Heads only; each opens a frame and none ends."""
    far.hello()
    head = f"@rw1 {far.run} 1 lscpu 9000000 00000000 20000\n".encode()
    for _ in range(40):
        far.raw(head * (MIB // len(head)))


@floods("reached|flooding")
def noise_then_sense(far: FarEnd) -> None:
    """Two megabytes of a login script, then an honest end."""
    far.raw(b"motd\n" * (2 * MIB // 5))
    far.hello()
    far.end()


@floods("reached|flooding")
def stderr_flood(far: FarEnd) -> None:
    far.hello()
    far.end()
    for _ in range(60):
        far.complain(b"Permission denied\n" * 60_000)


@floods("flooding|failed|denied|closed|hanging|too slow", look=True)
def stderr_flood_first(far: FarEnd) -> None:
    for _ in range(60):
        far.complain(b"Permission denied (password).\n" * 40_000)
    far.hello()
