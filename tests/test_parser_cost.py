"""The short version of bench/parsers.py: no parser is steeper than its input, or slow."""

import pytest

from lab.harness.parsers import SIZES, cost, fuzz, grown, growth, parse, parsers

# bench/parsers.py holds 2.3 by itself. Beside other tests, which take the cache, it came to 2.34.
# Cost that grows with the square of the input is 4.
BESIDE_OTHERS = 2.6
SMALL = [size // 4 for size in SIZES]


@pytest.mark.parametrize("parser", parsers())
def test_mutated_outputs_raise_nothing(parser: str) -> None:
    fuzz(parser, 40)


@pytest.mark.parametrize("parser", parsers())
def test_doubled_input_costs_about_twice(parser: str) -> None:
    for _ in range(4):  # a noisy moment of the machine: once more
        seconds, factor = growth(parser, SMALL)
        if factor <= BESIDE_OTHERS:
            break
    assert factor <= BESIDE_OTHERS
    assert seconds < 2 / 4


def test_the_grown_outputs_are_read() -> None:
    """Else the two tests above would measure how fast something is refused."""
    assert len(parsers()) > 60, "evidence is looked for where it is not"
    refused = [parser for parser in parsers() if not parse(parser, grown(parser, SIZES[0]))]
    assert refused == []
    assert cost("mlxconfig", grown("mlxconfig", SIZES[0])) > 0
