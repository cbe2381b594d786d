"""Long test files take turns from commit to commit: none is forgotten, and no turn is much longer."""

from conftest import LONG, SECONDS, TURNS, takes_its_turn


def test_every_long_file_has_one_turn_in_so_many_commits() -> None:
    long = [name for name, seconds in SECONDS.items() if seconds >= LONG]
    for name in long:
        assert sum(takes_its_turn(name, 700 + commit) for commit in range(TURNS)) == 1, name


def test_all_others_always_run() -> None:
    short = [name for name, seconds in SECONDS.items() if seconds < LONG]
    assert short
    for name in [*short, "test_of_no_known_length.py"]:
        assert all(takes_its_turn(name, commit) for commit in range(TURNS)), name


def test_turns_are_about_equally_long() -> None:
    spent = [
        sum(seconds for name, seconds in SECONDS.items() if takes_its_turn(name, commit))
        for commit in range(TURNS)
    ]
    assert max(spent) < 1.3 * min(spent)
