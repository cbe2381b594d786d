"""Values that no parser expects, in output that each of them knows."""

import contextlib
import itertools
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from tests.hostile.far_end import ALL, FarEnd, scenario
from tests.hostile.honest import EVIDENCE
from tests.hostile.words import CODES, HIDDEN, SHELL

values = partial(scenario, "values")
Change = Callable[[bytes], bytes]
LARGEST_SPECIMEN = 512 * 1024  # 48 probes, two each, stay below what one machine may send
_ENTRY = re.compile(rb"([FCLE]) ([0-9]+)(\+[0-9]+)? ([^\n]*)\n")


def is_json(data: bytes) -> bool:
    """Told by its beginning: a line of the kernel's log begins with a bracket too."""
    return re.match(rb'\s*(?:\{|\[\s*[\[{"\]])', data) is not None


@cache
def specimens(probe: str, *, of_json: bool) -> list[tuple[str, bytes]]:
    """Instance and bytes of real outputs; of lldpctl in the form that the probe asks for."""
    found = []
    for expected in sorted((EVIDENCE / probe).glob("*.expect.json")):
        expect = json.loads(expected.read_text("utf-8"))
        name = expected.name.removesuffix(".expect.json")
        output = expected.with_name(f"{name}.out").read_bytes()
        honest = "not_understood" not in expect and "adversarial" not in name
        form = "json0" in name or probe != "lldpctl"
        if honest and form and "odd" not in name and is_json(output) == of_json:
            found.append((expect["instance"], output))
    return found or [("", b"")]


def some_specimens(far: FarEnd, turn: int) -> Iterator[tuple[str, str, bytes]]:
    """Probe, instance and output: two of each probe where it may answer twice, by turns others."""
    for probe in far.probes:
        known = specimens(probe, of_json=far.filters[probe] == "json")
        first = known[turn % len(known)]
        others = [one for one in known if one[0] != first[0]]
        for instance, output in (first, *others[:1]):
            yield probe, instance, output


def entries(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Kind, path and body of each file; nothing where it is no answer of a file probe."""
    at = 0
    while (found := _ENTRY.match(data, at)) is not None:
        kind, size, _, path = found.groups()
        at = found.end() + int(size) + 1
        yield kind, path, data[found.end() : at - 1]


def changed(data: bytes, change: Change, *, paths: bool = False) -> bytes:
    """The output with its text changed, and the lengths of its files right again."""
    if not _ENTRY.match(data):
        return change(data)[:LARGEST_SPECIMEN]
    parts, size = [], 0
    for kind, path, body in entries(data):
        new = change(body)[:60_000]
        name = change(path).replace(b"\n", b" ")[:4000] if paths else path
        parts.append(b"%s %d %s\n%s\n" % (kind, len(new), name, new))
        size += len(parts[-1])
        if size > LARGEST_SPECIMEN:
            break
    return b"".join(parts)


def poisoned(far: FarEnd, change: Change, turn: int) -> None:
    """Every probe, specimens of it changed; the paths of files in every second one."""
    far.hello()
    for number, (probe, instance, output) in enumerate(some_specimens(far, turn)):
        odd = changed(output, change, paths=number % 2 == 1)
        far.answer(probe, odd, instance=instance)
    far.end()


def repeated(value: object, times: int) -> object:
    """JSON whose outermost list is as often longer."""
    if isinstance(value, dict):
        return {key: repeated(part, times) for key, part in value.items()}
    return value * times if isinstance(value, list) else value


def many_rows(data: bytes) -> bytes:
    """The same lines, files or elements again, their numbers other ones each time."""
    times = LARGEST_SPECIMEN // max(len(data), 64)
    if _ENTRY.match(data):
        return b"".join(
            b"%s %d %s%d\n%s\n" % (kind, len(body), path, turn, body)
            for turn in range(times)
            for kind, path, body in entries(data)
        )
    text = data * times
    if is_json(data):
        with contextlib.suppress(ValueError):  # several in a row
            text = json.dumps(repeated(json.loads(data), times)).encode()
    counter = itertools.count()
    return re.sub(rb"(?<=[a-z_:])\d+\b", lambda _: b"%d" % next(counter), text)


def sometimes(pattern: bytes, new: Callable[[bytes], bytes], one_in: int) -> Change:
    """Some of what matches becomes something else; always the same ones."""

    def change(data: bytes) -> bytes:
        chance = random.Random(len(data))
        hit = re.compile(pattern)
        return hit.sub(lambda m: new(m[0]) if chance.randrange(one_in) == 0 else m[0], data)

    return change


def within(text: str) -> Callable[[bytes], bytes]:
    """A word with something in its middle that ends no JSON text and no line."""
    odd = re.sub(r'["\\\n]', "", text).encode("utf-8", "surrogatepass")
    return lambda word: word[: len(word) // 2] + odd + word[len(word) // 2 :]


NUMBER, WORD = rb"(?<![0-9a-zA-Z])\d+(?:\.\d+)?", rb"[A-Za-z_]{4,}"


@values("reached", ALL, look=True)
def numbers_beyond_int64(far: FarEnd) -> None:
    poisoned(far, sometimes(NUMBER, lambda _: b"9" * 30, 2), 1)


@values("reached", ALL)
def numbers_of_many_digits(far: FarEnd) -> None:
    poisoned(far, sometimes(NUMBER, lambda _: b"9" * 5000, 12), 2)


@values("reached", ALL)
def numbers_below_zero(far: FarEnd) -> None:
    poisoned(far, sometimes(NUMBER, lambda number: b"-" + number, 2), 3)


@values("reached", ALL, look=True)
def numbers_that_are_none(far: FarEnd) -> None:
    odd = random.Random(7)
    choices = (b"NaN", b"-Infinity", b"1e999", b"0x1p9", "٢".encode(), b"1_0", b"", b"null")
    poisoned(far, sometimes(NUMBER, lambda _: odd.choice(choices), 2), 4)


@values("reached", ALL, look=True)
def words_with_codes(far: FarEnd) -> None:
    poisoned(far, sometimes(WORD, within(CODES), 5), 5)


@values("reached", ALL, look=True)
def words_with_hidden_signs(far: FarEnd) -> None:
    poisoned(far, sometimes(WORD, within(HIDDEN), 5), 6)


@values("reached", ALL, look=True)
def words_that_are_commands(far: FarEnd) -> None:
    poisoned(far, sometimes(WORD, within(SHELL[0] + SHELL[1]), 5), 7)


@values("reached", ALL)
def words_without_end(far: FarEnd) -> None:
    poisoned(far, sometimes(WORD, lambda word: word * 2000, 30), 8)


@values("reached", ALL, look=True)
def words_that_are_no_text(far: FarEnd) -> None:
    """Bytes that are no UTF-8, halves of pairs, NUL."""
    poisoned(far, sometimes(WORD, within("\ud800\0"), 5), 9)


@values("reached", ALL)
def every_answer_cut(far: FarEnd) -> None:
    poisoned(far, lambda data: data[: len(data) * 2 // 3], 10)


@values("reached", ALL)
def every_answer_of_another(far: FarEnd) -> None:
    """Each probe with the output of the next."""
    far.hello()
    following = dict(zip(far.probes, [*far.probes[1:], far.probes[0]], strict=True))
    for probe, _, output in some_specimens(far, 0):
        far.answer(following[probe], output)
    far.end()


@values("reached", ALL)
def every_answer_random(far: FarEnd) -> None:
    far.hello()
    for number, probe in enumerate(far.probes):
        far.answer(probe, random.Random(number).randbytes(20_000), stderr=os.urandom(2000))
    far.end()
