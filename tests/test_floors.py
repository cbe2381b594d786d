"""What belongs to one floor alone: the words of switch systems, and verdicts."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from railwright.check.rule import shipped
from railwright.schema.system import systems

PACKAGE = Path(__file__).parents[1] / "src/railwright"
# Above the tables, where the words of vendors end.
ABOVE = ("intent", "fabric", "predict", "check", "design", "report", "cli")


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


def names_a_system(text: str) -> bool:
    """As a value that something is compared with, not as a word of a sentence."""
    return text in systems() or any(re.search(rf"'{name}'", text) for name in systems())


def judges(source: str) -> list[int]:
    """The lines of a module that say of themselves that something is broken."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "Remark"
        and any(
            word.arg == "is_broken" and isinstance(word.value, ast.Constant) and word.value.value
            for word in node.keywords
        )
    ]


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
    assert [path.name for path in views if names_a_system(path.read_text("utf-8"))] == []


def test_a_system_that_is_named_is_seen() -> None:
    for broken in ('IDLE = end.system == "sonic"', "Q = \"CASE WHEN system = 'eos' THEN 1 END\""):
        assert [one for one in texts(broken) if names_a_system(one[1])]
    assert not names_a_system("leaf[01-04]=sonic,spine[01-02]=eos")


def test_only_check_says_that_something_is_broken() -> None:
    """Of a way that ends its walk tells; all else comes from a rule's verdict."""
    everywhere = [path for path in modules(*ABOVE) if judges(path.read_text("utf-8"))]
    assert [str(path.relative_to(PACKAGE)) for path in everywhere] == ["check/along.py"]
    assert judges('remarks.append(Remark(is_broken=True, what="no PFC"))') == [1]
