"""Which words of DMI name a machine's model: machine_names.toml, as SQL."""

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from railwright.hardware.data import FOLDER
from railwright.toml import load_toml

FILE = "machine_names.toml"


@dataclass(frozen=True)
class Maker:
    """How a maker names its machines."""

    begins: str  # of sys_vendor, in small letters
    source: str
    cut: str = ""  # a pattern, taken off the product's name
    board_is_model: bool = False


@cache
def _data() -> dict[str, Any]:
    return load_toml((FOLDER / FILE).read_text("utf-8"), FILE)


def makers() -> tuple[Maker, ...]:
    """The makers that need more than the product's name."""
    return tuple(Maker(**entry) for entry in cast("list[dict[str, Any]]", _data()["maker"]))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def given(column: str) -> str:
    """A column of `dmi`, '' where it holds a placeholder; NULL where it was not read."""
    said = _data()["placeholder"]
    listed = ", ".join(map(_text, said["values"]))
    pattern = _text("|".join(f"(?:{one})" for one in said["patterns"]))
    low = f"lower(trim({column}))"
    empty = f"{low} IN ({listed}) OR regexp_full_match({low}, {pattern})"
    return f"CASE WHEN {empty} THEN '' ELSE trim({column}) END"


def is_cloud(column: str) -> str:
    """Whether a product's name is that of a cloud or a hypervisor."""
    pattern = "|".join(f"(?:{one})" for one in _data()["cloud"]["patterns"])
    return f"regexp_full_match(lower({column}), {_text(pattern)})"


def _of_maker(vendor: str, values: dict[str, str], other: str) -> str:
    cases = " ".join(
        f"WHEN starts_with(lower({vendor}), {_text(begins)}) THEN {value}"
        for begins, value in values.items()
    )
    return f"CASE {cases} ELSE {other} END"


def model(vendor: str, product: str, board: str) -> str:
    """The model of a machine, of columns without placeholders; '' = its firmware says none."""
    cut = {m.begins: f"regexp_replace({product}, {_text(m.cut)}, '')" for m in makers() if m.cut}
    named = _of_maker(vendor, cut, product)
    boards = {m.begins: board for m in makers() if m.board_is_model}
    return f"CASE WHEN {product} <> '' THEN {named} ELSE {_of_maker(vendor, boards, _text(''))} END"
