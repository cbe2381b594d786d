"""Names of machines and ports: what may be one, and how many are shown as gpu[001-512].

Names come from machines and from snapshots and are never an expression here: no parser sees them,
so a name cannot name a group, a range or a pattern (node_sets.py is for what an operator writes).
"""

import re
from collections.abc import Iterable, Iterator

from railwright.text import plain

STEPS = 5  # so many names at equal distance are written as leaf[001-015/2]
LONGEST = 253  # of a DNS name

# A machine, as ssh and srun take it: a host name, user@host, or an address with its zone. Nothing
# that could be read as an option, and no % that ssh would expand in a ProxyCommand.
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_ADDRESS = r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?"
MACHINE = rf"(?:{_WORD}@)?(?:{_WORD}|{_ADDRESS})"
_MACHINE = re.compile(MACHINE, re.ASCII)

_FOLDABLE = re.compile(r"[A-Za-z0-9_.:/-]+", re.ASCII)
_NUMBER = re.compile(r"([0-9]{1,18})", re.ASCII)  # a longer run of digits is no number of a machine
_AMBIGUOUS = re.compile(r'[,\[\]"\s]')  # in a list such a name would read as several

Numbers = tuple[str, ...]


def is_machine_name(name: object) -> bool:
    """Whether this can be the name of a machine."""
    return isinstance(name, str) and len(name) <= LONGEST and bool(_MACHINE.fullmatch(name))


def fold(names: Iterable[str], steps: int = STEPS) -> str:
    """`gpu1, gpu2, gpu3` -> `gpu[1-3]`; a name with other signs stands as it is, made harmless.

    From so many names at equal distance on, `steps` are written.
    """
    alike: dict[Numbers, set[Numbers]] = {}
    odd = set()
    for name in names:
        if _FOLDABLE.fullmatch(name):
            parts = _NUMBER.split(name)
            alike.setdefault(tuple(parts[::2]), set()).add(tuple(parts[1::2]))
        else:
            odd.add(name)
    found = [text for words in sorted(alike) for text in _fold_alike(words, alike[words], steps)]
    return ",".join([*found, *map(_as_it_is, sorted(odd))])


def _as_it_is(name: str) -> str:
    text = plain(name)
    return f'"{text}"' if not text or _AMBIGUOUS.search(text) else text


def _fold_alike(words: Numbers, numbers: set[Numbers], steps: int) -> Iterator[str]:
    """Names that differ in their numbers only: `rack[1-2]n[1-8]` where they are a full block."""
    if len(words) == 1:
        yield words[0]
        return
    if len(words) == 2:
        yield f"{words[0]}{_ranges((one[0] for one in numbers), steps)}{words[1]}"
        return
    last: dict[Numbers, set[str]] = {}
    for one in numbers:
        last.setdefault(one[:-1], set()).add(one[-1])
    blocks: dict[frozenset[str], set[Numbers]] = {}
    for before, values in last.items():
        blocks.setdefault(frozenset(values), set()).add(before)
    texts = {_ranges(values, steps): befores for values, befores in blocks.items()}
    for text, befores in sorted(texts.items(), key=lambda block: min(map(_order, block[1]))):
        for head in _fold_alike(words[:-1], befores, steps):
            yield f"{head}{text}{words[-1]}"


def _order(numbers: Numbers) -> tuple[int, ...]:
    return tuple(map(int, numbers))


def _ranges(numbers: Iterable[str], steps: int) -> str:
    """`[001-015/2,017]`, or the number alone. Read back, it gives these very texts."""
    found = list(numbers)
    if len(found) == 1:
        return found[0]
    # 08, 09 and 10 are padded to two digits; 8, 9, 10 and 100 are not.
    padded = {len(text) for text in found if text[0] == "0"}
    groups: dict[int, list[int]] = {}
    for text in found:
        width = len(text) if len(text) in padded else 1
        groups.setdefault(width, []).append(int(text))
    runs = [
        _run(low, high, step, width)
        for width, values in groups.items()
        for low, high, step in _runs(sorted(values), steps)
    ]
    if len(groups) > 1:
        runs.sort(key=lambda run: (len(re.split("[-/]", run)[0]), run))
    return f"[{','.join(runs)}]"


def _run(low: int, high: int, step: int, width: int) -> str:
    if low == high:
        return f"{low:0{width}d}"
    return f"{low:0{width}d}-{high:0{width}d}" + (f"/{step}" if step > 1 else "")


def _runs(numbers: list[int], steps: int) -> Iterator[tuple[int, int, int]]:
    """(first, last, step) of numbers in a row, and of those at equal distance if there are many."""
    at, end = 0, len(numbers)
    while at < end:
        last = at + 1
        step = numbers[last] - numbers[at] if last < end else 1
        while last < end and numbers[last] - numbers[last - 1] == step:
            last += 1
        if step > 1 and last - at < steps:
            last = at + 1
        yield numbers[at], numbers[last - 1], step
        at = last
