"""How SONiC's tools read arguments, and what they say of wrong ones: click, exit status 2."""

from collections.abc import Sequence

from lab.switch_writes.outcome import RefusedError

Table = dict[str, dict[str, dict[str, str]]]


def usage(command: str, arguments: str, words: str) -> RefusedError:
    """A usage error."""
    return RefusedError(
        f"Usage: {command} [OPTIONS] {arguments}\nTry \"{command} -h\" for help.\n\n"
        f"Error: {words}", 2,
    )  # fmt: skip


def click(
    words: Sequence[str], *, flags: Sequence[str] = (), valued: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Options and arguments."""
    options: dict[str, str] = {}
    named: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        name, _, value = word.partition("=")
        if word in flags:
            options[word] = ""
        elif name in valued and (value or left):
            options[name] = value or left.pop(0)
        elif word.startswith("-") and len(word) > 1:
            raise RefusedError(f"Error: no such option: {word}", 2)
        else:
            named.append(word)
    return options, named


def field(command: str, arguments: str, words: Sequence[str]) -> list[str]:
    """As many arguments as there must be."""
    names = arguments.split()
    if len(words) < len(names):
        raise usage(command, arguments, f"Missing argument '{names[len(words)]}'.")
    if len(words) > len(names):
        extra = " ".join(words[len(names) :])
        raise usage(command, arguments, f"Got unexpected extra argument ({extra})")
    return list(words)


def within(command: str, name: str, text: str, allowed: range) -> int:
    """A number, as click.IntRange has it."""
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise usage(command, "...", f"Invalid value for '{name}': {text} is not a valid integer")
    if int(text) not in allowed:
        words = f"{text} is not in the valid range of {allowed[0]} to {allowed[-1]}."
        raise usage(command, "...", f"Invalid value for '{name}': {words}")
    return int(text)
