"""Pages of the commands, from the command line itself; examples come from the README."""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from tools.command_tree import NAME, OPTIONS, Argument, Command, Option, tree
from tools.markdown import GENERATED, fence, head, row

REPOSITORY = Path(__file__).parents[1]
FOLDER = "docs/commands"
SOURCE = "src/railwright/cli"
EXAMPLES = ("README.md", "docs/files.md")
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# In the order of the help, by what one wants.
GROUPS = {
    "See it work": ("demo",),
    "Read": ("collect", "runner", "import", "merge", "store"),
    "Check": ("check", "explain", "rules", "waive", "intent"),
    "Look": ("facts", "show", "path", "links", "rails", "diff", "report", "sql", "evidence"),
    "Plan": ("plan",),
    "Calculate": ("predict", "fit", "hardware"),
}
# Where there is more about it.
ABOUT = {
    "check": ("Every rule", "../rules/README.md"),
    "collect": ("Every probe", "../probes.md"),
    "demo": ("The first hour", "../start.md"),
    "diff": ("What is compared", "../diff.md"),
    "evidence": ("Every probe", "../probes.md"),
    "explain": ("Every rule", "../rules/README.md"),
    "fit": ("Parts that belong together", "../fit.md"),
    "hardware": ("Everything that is documented", "../hardware.md"),
    "import": ("Hosts without ssh access", "../operate/air-gap.md"),
    "intent": ("The site file", "../site.md"),
    "links": ("Links, rails and paths", "../paths.md"),
    "path": ("Links, rails and paths", "../paths.md"),
    "predict": ("What stands behind each number", "../predict.md"),
    "rails": ("Links, rails and paths", "../paths.md"),
    "report": ("How to read the report", "../report.md"),
    "plan": ("What to change, and what undoes it", "../plan.md"),
    "rules": ("Rules of your own", "../writing-rules.md"),
    "runner": ("Hosts without ssh access", "../operate/air-gap.md"),
    "sql": ("Every table and column", "../tables.md"),
    "store": ("Where snapshots are", "../files.md"),
    "waive": ("Findings, waivers and gaps", "../concepts.md"),
}


@cache
def examples() -> dict[str, list[str]]:
    """Command lines of pages that people write, by verb, with their remarks; tests run them."""
    text = "\n".join((REPOSITORY / page).read_text("utf-8") for page in EXAMPLES)
    lines = [line for block in _BLOCK.findall(text) for line in block.splitlines()]
    found: dict[str, dict[str, str]] = {}
    for line in sorted(lines, key=lambda one: " #" not in one):  # one with a remark stands for all
        if line.startswith(f"{NAME} "):
            found.setdefault(line.split()[1], {}).setdefault(line.partition(" #")[0].strip(), line)
    return {verb: sorted(some.values(), key=lines.index) for verb, some in found.items()}


def _names(option: Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.names)
    takes = "/".join(f"`{word}`" for word in option.takes.split("|"))  # a bar would end the cell
    return f"{names} {takes}" if option.takes else names


def _text(said: str) -> str:
    """Help with its variables and files marked as such."""
    return re.sub(r"(\$\w+|~/[\w/.-]*\w)", r"`\1`", said)


def _meaning(option: Option) -> str:
    said = [_text(option.text)]
    if option.limits:
        said.append(f"{option.limits}.")
    if option.default:
        said.append(f"Default: `{option.default}`.")
    return " ".join(said)


def _options(options: list[Option]) -> Iterator[str]:
    yield from head("option", "meaning")
    yield from (row(_names(one), _meaning(one)) for one in options)


def _arguments(arguments: tuple[Argument, ...]) -> Iterator[str]:
    yield from head("argument", "meaning")
    yield from (row(f"`{one.usage}`", _text(one.text)) for one in arguments)


def _one(command: Command, level: str) -> Iterator[str]:
    """What stands under the title of a command."""
    for part in command.text.split("\n\n"):
        yield from ("", part)
    yield ""
    yield from fence([f"usage: {command.usage}"])
    if command.arguments:
        yield from ("", f"{level} Arguments", "")
        yield from _arguments(command.arguments)
    panels = command.panels()
    own = panels.pop(OPTIONS)
    for title, options in panels.items():
        yield from ("", f"{level} {title}", "")
        yield from _options(options)
    yield from ("", f"{level} {'Other options' if panels else 'Options'}", "")
    yield from _options(own)


def _page(command: Command) -> Iterator[str]:
    yield f"# {command.title}"
    yield ""
    yield GENERATED.format(f"{SOURCE} or the examples of README.md")
    if command.commands:
        yield from ("", command.text, "")
        for one in command.commands:
            words = " ".join(one.words)
            yield f"- [`{words}`](#{one.title.replace(' ', '-')}): {one.summary}"
        for one in command.commands:
            yield from ("", f"## {one.title}")
            yield from _one(one, "###")
    else:
        yield from _one(command, "##")
    lines = examples().get(command.words[0])
    if lines:
        yield from ("", "## Examples", "", "```sh", *lines, "```")
    yield from ("", "## See also", "")
    if command.words[0] in ABOUT:
        yield "- [{}]({})".format(*ABOUT[command.words[0]])
    yield "- [Exit status](../exit-status.md), [files and environment variables](../files.md)"
    yield "- [All commands](README.md)"


def _index() -> Iterator[str]:
    root = tree()
    commands = {one.words[0]: one for one in root.commands}
    yield "# Commands"
    yield ""
    yield GENERATED.format(SOURCE)
    yield ""
    yield root.summary
    for title, names in GROUPS.items():
        yield from ("", f"## {title}", "")
        yield from head("command", "what it does")
        for name in names:
            if name in commands:
                yield row(f"[`{name}`]({name}.md)", commands[name].summary)
    yield from ("", "## Options of the program", "")
    yield from _options(list(root.options))
    yield ""
    yield "`-h` prints the help of every command, and each has a man page: `man railwright` and"
    yield "`man railwright-check`. [Installing](../install.md) says what Tab completes, and how."


def command_pages() -> dict[str, Callable[[], Iterator[str]]]:
    """All of them by name."""
    pages: dict[str, Callable[[], Iterator[str]]] = {f"{FOLDER}/README.md": _index}
    pages |= {f"{FOLDER}/{one.words[0]}.md": partial(_page, one) for one in tree().commands}
    return pages
