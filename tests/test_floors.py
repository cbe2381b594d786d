"""What belongs to one floor alone: the words of switch systems, and verdicts."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from railwright.check.rule import shipped
from railwright.schema.system import systems

PACKAGE = Path(__file__).parents[1] / "src/railwright"
# Above the tables, where the words of vendors end.
ABOVE = ("model", "intent", "fabric", "predict", "check", "design", "report", "cli")
# The model's first floor, which puts the words of the systems into the model's own. Nothing else may know them.
FIRST_FLOOR = {
    "model/derived/own_end.sql",  # what a port is running wins over what it is configured for
    "model/derived/port_class.sql",  # the same for classes; which number stands for a class differs by system
}
# Who may say that a packet's way is broken, as file and function. All else comes from a rule's verdict.
MAY_JUDGE = {
    ("check/along.py", "remark"): "tells a rule's verdict on",
    ("fabric/walk.py", "_stop"): "no route, or a route that ends: the way itself ends there",
    (
        "fabric/walk.py",
        "_follow",
    ): "a loop, or a way to another machine: there is no end to walk to",
    ("fabric/trace.py", "_grouped"): "tells on what the walk said of a switch",
}
# Where is_broken stands among the values of what carries it.
PLACE = {"Remark": 0, "Stop": 5}


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((PACKAGE / folder).rglob("*.py"))


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Every text of a module but its docstrings, with its line."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


@cache
def vendor_words() -> re.Pattern[str]:
    """The systems, their probes and what these begin with (nvue of nvue_show), and longer names of their kind."""
    words = {*systems()} | {
        probe.split("_")[0] for one in systems().values() for probe in one.probes
    }
    return re.compile(rf"(?:{'|'.join(sorted(words))})(?:_[\w%]*|%)?")


def names_a_system(text: str) -> bool:
    """As a value that something is compared with, not as a word of a sentence."""
    quoted = re.search(rf"'{vendor_words().pattern}'", text)
    return bool(quoted or vendor_words().fullmatch(text))


def assigned(target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    """What a variable is_broken gets, alone or as one of several."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for name, part in zip(target.elts, value.elts, strict=True):
            yield from assigned(name, part)
    elif getattr(target, "id", "") == "is_broken":
        yield value


def said_broken(node: ast.AST) -> Iterator[ast.expr]:
    """The values that a statement or call gives to is_broken, by name or by place."""
    if isinstance(node, ast.Call):
        yield from (word.value for word in node.keywords if word.arg == "is_broken")
        place = PLACE.get(getattr(node.func, "id", ""))
        if place is not None:
            yield from node.args[place : place + 1]
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from assigned(target, node.value)


def judges(source: str) -> set[str]:
    """The functions that say of themselves that something is broken, or may be."""
    return {
        function.name
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        for value in said_broken(node)
        if not (isinstance(value, ast.Constant) and value.value is False)
    }


def test_no_rule_names_a_system() -> None:
    assert [rule.id for rule in shipped().values() if names_a_system(rule.sql)] == []


def test_no_code_above_the_tables_names_a_system() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in modules(*ABOVE)
        for line, text in texts(path.read_text("utf-8"))
        if names_a_system(text)
    ]
    assert found == []
    made = [path for folder in ABOVE for path in (PACKAGE / folder).rglob("*.sql")]
    views = [path for path in made if "rules" not in path.parts]
    naming = {
        path.relative_to(PACKAGE).as_posix()
        for path in views
        if names_a_system(path.read_text("utf-8"))
    }
    assert naming == FIRST_FLOOR


def test_a_system_that_is_named_is_seen() -> None:
    for broken in (
        'IDLE = end.system == "sonic"',
        "Q = \"CASE WHEN system = 'eos' THEN 1 END\"",
        "Q = \"max(mtu) FILTER (probe <> 'sonic_config_db')\"",
        'MADE = probe == "nvue_show"',
        'OF = probe.startswith("nvue_")',
        "Q = \"probe LIKE 'onyx%'\"",
    ):
        assert [one for one in texts(broken) if names_a_system(one[1])], broken
    assert not names_a_system("leaf[01-04]=sonic,spine[01-02]=eos")
    assert not names_a_system("'cumulative'")


def test_only_check_says_that_something_is_broken() -> None:
    """Of a way that ends its walk tells; all else comes from a rule's verdict."""
    found = {
        (path.relative_to(PACKAGE).as_posix(), function)
        for path in modules(*ABOVE)
        for function in judges(path.read_text("utf-8"))
    }
    assert found == set(MAY_JUDGE)


@pytest.mark.parametrize(
    "line",
    [
        'Remark(is_broken=True, what="no PFC")',
        'Remark(first.is_broken, "no PFC")',
        "Stop(switch, into, exits, by, lost, True)",
        "stop._replace(is_broken=end.pfc is False)",
        "lost, is_broken = 'no PFC', True",
    ],
)
def test_who_judges_is_seen(line: str) -> None:
    assert judges(f"def look():\n    {line}") == {"look"}
    assert not judges('def look():\n    Remark(is_broken=False, what="not read")')
