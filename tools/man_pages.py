"""Man pages, from the command line itself: one for the program and one for each verb."""

import re
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from railwright import __version__
from tools.command_docs import examples
from tools.command_tree import NAME, OPTIONS, Argument, Command, Option, tree

REPOSITORY = Path(__file__).parents[1]
FOLDER = "man"
WIDTH = 78  # of a line of the source; the reader's terminal sets its own
_SPAN = re.compile(r"(`[^`]+`)")
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


# ---- roff


def _plain(text: str) -> str:
    """Text in which nothing is an escape, and a dash is one that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("~", "\\(ti")
    text = text.replace("^", "\\(ha").replace('"', "\\(dq").replace("`", "\\(ga")
    return "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in text)


def _line(text: str) -> str:
    """A line of text: code spans are bold, and no first sign makes a request of it."""
    text = _LINK.sub(r"\1", text)
    parts = [
        f"\\fB{_plain(part[1:-1])}\\fR" if part.startswith("`") else _plain(part)
        for part in _SPAN.split(text)
        if part
    ]
    return _safe("".join(parts))


def _safe(line: str) -> str:
    return f"\\&{line}" if line.startswith((".", "\\(aq")) else line


def _lines(text: str) -> Iterator[str]:
    """The same in lines that an editor shows whole."""
    wrapped = textwrap.wrap(_line(text), WIDTH, break_long_words=False, break_on_hyphens=False)
    yield from map(_safe, wrapped)


def _paragraphs(text: str) -> Iterator[str]:
    for number, part in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        yield from _lines(part)


def _bold(text: str) -> str:
    return f"\\fB{_plain(text)}\\fR"


def _emphasis(text: str) -> str:
    return f"\\fI{_plain(text)}\\fR"


def _item(tag: str, text: str) -> Iterator[str]:
    yield from (".TP", tag, *_lines(text))


# ---- parts of a page


def _title(name: str) -> str:
    return f'.TH {name.upper()} 1 "" "{NAME} {__version__}" "{NAME[:1].upper()}{NAME[1:]}"'


def _argument(one: Argument) -> str:
    word = _emphasis(one.name) + (" ..." if one.is_repeated else "")
    return word if one.is_required else f"[{word}]"


def _synopsis(command: Command) -> Iterator[str]:
    rest = [_emphasis("COMMAND"), f"[{_emphasis('ARGS')} ...]"] if command.commands else []
    rest = rest or [_argument(one) for one in command.arguments]
    yield " ".join((_bold(command.title), f"[{_emphasis('OPTIONS')}]", *rest))


def _tag(option: Option) -> str:
    names = ", ".join(_bold(name) for name in option.names)
    return f"{names} {_emphasis(option.takes)}" if option.takes else names


def _meaning(option: Option) -> str:
    said = [option.text]
    if option.limits:
        said.append(f"{option.limits}.")
    if option.default:
        said.append(f"Default: {option.default}.")
    return " ".join(said)


def _options(command: Command) -> Iterator[str]:
    for one in command.arguments:
        yield from _item(_argument(one), one.text)
    panels = command.panels()
    own = panels.pop(OPTIONS)
    for title, options in panels.items():
        yield f".SS {title}"
        for one in options:
            yield from _item(_tag(one), _meaning(one))
    if panels:
        yield ".SS Other options"
    for one in own:
        yield from _item(_tag(one), _meaning(one))


def _rows(page: str, title: str) -> Iterator[str]:
    """The rows of the first table below a title of a page that is written by hand."""
    text = (REPOSITORY / page).read_text("utf-8")
    part = re.split(r"^#+ ", text.partition(f"# {title}\n")[2], flags=re.MULTILINE)[0]
    for name, meaning in _ROW.findall(part)[1:]:  # without its head
        yield from _item(_line(name), f"{meaning[:1].upper()}{meaning[1:]}.")


def _examples(lines: list[str]) -> Iterator[str]:
    yield ".SH EXAMPLES"
    for number, line in enumerate(lines):
        command, _, remark = (part.strip() for part in line.partition(" #"))
        if number:
            yield ".PP"
        if remark:
            yield from _lines(f"{remark[:1].upper()}{remark[1:]}:")
            yield ".PP"
        yield from (".RS 4", ".nf", _line(command), ".fi", ".RE")


def _see_also(names: list[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    for name in names[:-1]:
        yield f".BR {_plain(name)} (1),"
    yield f".BR {_plain(names[-1])} (1)"


# ---- pages


def _page(command: Command) -> Iterator[str]:
    name = "-".join((NAME, *command.words))
    yield '.\\" Written by `just docs` from src/railwright/cli and README.md.'
    yield _title(name)
    yield ".SH NAME"
    yield f"{_plain(name)} \\- {_line(_short(command))}"
    yield ".SH SYNOPSIS"
    yield from _synopsis(command)
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.text)
    if command.commands:
        yield ".SH COMMANDS"
        for one in command.commands:
            yield f".SS {_plain(one.title)}"
            yield from _synopsis(one)
            yield ".PP"
            yield from _paragraphs(one.text)
            yield from _options(one)
    else:
        yield ".SH OPTIONS"
        yield from _options(command)
    if lines := examples().get(command.words[0]):
        yield from _examples(lines)
    yield from _see_also([NAME])


def _short(command: Command) -> str:
    """A first sentence as the list of man pages has it: no full stop, and no capital."""
    said = command.summary.partition(". ")[0].rstrip(".")
    return said[:1].lower() + said[1:]


def _program() -> Iterator[str]:
    root = tree()
    yield '.\\" Written by `just docs` from src/railwright/cli, docs/exit-status.md, docs/files.md.'
    yield _title(NAME)
    yield ".SH NAME"
    yield f"{NAME} \\- {_line(_short(root))}"
    yield ".SH SYNOPSIS"
    yield from _synopsis(root)
    yield ".SH DESCRIPTION"
    yield from _paragraphs(root.summary)
    yield ".SH COMMANDS"
    for one in root.commands:
        yield from _item(f"{_bold('-'.join((NAME, *one.words)))}(1)", one.summary)
    yield ".SH OPTIONS"
    yield from _options(root)
    yield ".SH EXIT STATUS"
    yield from _rows("docs/exit-status.md", "Exit status")
    yield ".SH ENVIRONMENT"
    yield from _rows("docs/files.md", "Environment variables")
    yield ".SH FILES"
    yield from _rows("docs/files.md", "Files")
    yield from _see_also(["-".join((NAME, *one.words)) for one in root.commands])


def man_pages() -> dict[str, Callable[[], Iterator[str]]]:
    """All of them by name."""
    pages: dict[str, Callable[[], Iterator[str]]] = {f"{FOLDER}/{NAME}.1": _program}
    for one in tree().commands:
        pages[f"{FOLDER}/{NAME}-{one.words[0]}.1"] = partial(_page, one)
    return pages
