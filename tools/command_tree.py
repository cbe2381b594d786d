"""The command line as data: what pages and man pages are made of, and no library's own layout."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import typer

from railwright.cli import program

NAME = "railwright"
OPTIONS = "Options"  # where an option names no other place


@dataclass(frozen=True)
class Argument:
    """What stands without a dash."""

    name: str
    text: str
    is_required: bool
    is_repeated: bool

    @property
    def usage(self) -> str:
        """As a usage line has it."""
        word = self.name if self.is_required else f"[{self.name}]"
        return f"{word}..." if self.is_repeated else word


@dataclass(frozen=True)
class Option:
    """An option, short names first."""

    names: tuple[str, ...]
    takes: str  # '' for a flag
    text: str
    default: str
    limits: str
    panel: str


@dataclass(frozen=True)
class Command:
    """A command, or a group of them."""

    words: tuple[str, ...]  # () is the program
    text: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    commands: tuple["Command", ...]

    @property
    def title(self) -> str:
        """As it is typed."""
        return " ".join((NAME, *self.words))

    @property
    def summary(self) -> str:
        """What the list of commands says of it."""
        return self.text.partition("\n\n")[0]

    @property
    def usage(self) -> str:
        """One line, as --help begins."""
        rest = ["COMMAND [ARGS]..."] if self.commands else [one.usage for one in self.arguments]
        return " ".join((self.title, "[OPTIONS]", *rest))

    def panels(self) -> dict[str, list[Option]]:
        """The options by place, in the order of the help."""
        found: dict[str, list[Option]] = {OPTIONS: []}
        for one in self.options:
            found.setdefault(one.panel, []).append(one)
        return found

    def all(self) -> Iterator["Command"]:
        """Itself, and what is below it."""
        yield self
        for one in self.commands:
            yield from one.all()


def _words(text: str | None) -> str:
    """Help without the line ends of its source; paragraphs stay apart."""
    return "\n\n".join(" ".join(part.split()) for part in (text or "").strip().split("\n\n"))


def _default(parameter: Any) -> str:
    value = parameter.default
    value = getattr(value, "value", value)  # of an Enum
    if not parameter.show_default or parameter.is_flag or value in (None, "", [], ()):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _limits(parameter: Any) -> str:
    of = parameter if hasattr(parameter, "min") else getattr(parameter, "type", None)  # older Typer
    low, high = getattr(of, "min", None), getattr(of, "max", None)
    if low is None or high is None:
        return "" if low is None else f"{low} or more"
    return f"{low} to {high}"


def _option(parameter: Any) -> Option:
    names = (*sorted(parameter.opts, key=len), *parameter.secondary_opts)  # --no-check
    panel = getattr(parameter, "rich_help_panel", None) or OPTIONS
    takes = "" if parameter.is_flag else parameter.metavar or ""
    text = _words(parameter.help)
    return Option(names, takes, text, _default(parameter), _limits(parameter), panel)


def _argument(parameter: Any) -> Argument:
    name = re.sub(r"\W", "", parameter.metavar or str(parameter.name).upper())
    return Argument(name, _words(parameter.help), parameter.required, parameter.nargs != 1)


def _command(one: Any, context: Any, words: tuple[str, ...]) -> Command:
    parameters = one.get_params(context)
    options = [_option(p) for p in parameters if p.param_type_name == "option"]
    below = []
    for name, sub in getattr(one, "commands", {}).items():
        inside = sub.make_context(name, [], parent=context, resilient_parsing=True)
        below.append(_command(sub, inside, (*words, name)))
    return Command(
        words,
        _words(one.help),
        tuple(_argument(p) for p in parameters if p.param_type_name != "option"),
        tuple(options),
        tuple(below),
    )


@cache
def tree() -> Command:
    """The whole command line."""
    one = typer.main.get_command(program())
    return _command(one, one.make_context(NAME, [], resilient_parsing=True), ())
