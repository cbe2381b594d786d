"""A command line that cannot be understood, in our words: what is wrong, and the exact fix."""

import re
import shlex
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

import typer

from railwright.cli.grammar import choices_of
from railwright.errors import UsageError
from railwright.nodes import is_machine_name

_QUOTED = re.compile(r"'(.*?)'", re.DOTALL)
_EXTRA = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)
# What other tools call it.
ALSO_CALLED = {
    **dict.fromkeys(("remove", "rm", "delete", "clean"), "prune"),
    **dict.fromkeys(("scan", "gather", "run"), "collect"),
    **dict.fromkeys(("lint", "validate", "audit", "test"), "check"),
    "ls": "list",
    "status": "facts",
    "inspect": "show",
    "trace": "path",
    "compare": "diff",
    "query": "sql",
    "describe": "explain",
    "ignore": "waive",
    "topology": "links",
}
# Words that are given with an option where a stranger writes them bare.
_OPTION_FOR = {
    "facts": ("it takes one snapshot; for one host there is show", "railwright show {words}"),
    "check": ("it takes one snapshot; for one host there is show", "railwright show {words}"),
    "collect": ("hosts are given with -w", "railwright collect -w {words}"),
    "store list": ("it lists all snapshots of the store", "railwright store list --store FOLDER"),
    "store prune": ("it keeps the newest", "railwright store prune --keep COUNT"),
    "rules": ("it lists all rules", "railwright explain {words}"),
    "intent profiles": ("it lists all profiles", "railwright intent profiles"),
    "demo": ("the folder is given with --keep", "railwright demo --keep {words}"),
    "explain": (
        "the subject is given with --subject",
        "railwright explain {first} --subject {words}",
    ),
    "sql": ("the query is one argument", 'railwright sql "{all}"'),
}


def mistake(
    error: BaseException, words: list[str], program: Callable[[str], typer.Typer]
) -> BaseException:
    """What the parser of the command line says, as an error of ours; any other error as it is."""
    if not hasattr(error, "format_message"):
        return error
    command, verb = _command(words, program)
    return _told(error, command, verb, words)


def _command(words: list[str], program: Callable[[str], typer.Typer]) -> tuple[Any, str]:
    """The command that the words name, as far as they name one."""
    command: Any = typer.main.get_command(program(next(iter(words), "")))
    path = []
    for word in words:
        inner = getattr(command, "commands", {}).get(word)
        if inner is None:
            break
        command = inner
        path.append(word)
    command.get_params(typer.Context(command))  # which gives each option its name in the help
    return command, " ".join(path)


def _told(error: Any, command: Any, verb: str, words: list[str]) -> UsageError:
    said = str(error.format_message())
    kind = type(error).__name__
    extra = _EXTRA.search(said)
    if kind == "NoArgsIsHelpError":  # the help was printed where it was made
        told = UsageError(f"{verb} needs a command" if verb else "no command given")
    elif said.startswith("No such command"):
        told = _no_command(command, _QUOTED.search(said), verb)
    elif kind == "NoSuchOption":
        told = _no_option(error, command, verb)
    elif extra:
        told = _extra(verb, extra[1], words)
    elif kind == "MissingParameter":
        told = _missing(error, command, verb)
    elif getattr(error, "param", None) is not None:
        told = _bad_value(error.param, str(error.message), verb, words)
    elif kind == "BadOptionUsage" or "argument" in said:
        told = _no_value(said, command, verb)
    else:
        told = UsageError(f"{said[:1].lower()}{said[1:].rstrip('.')}", do=_help(verb))
    return told


def _help(verb: str) -> str:
    return f"To see what it takes: railwright {f'{verb} ' if verb else ''}--help"


def _near(word: str, known: Iterable[str]) -> list[str]:
    return get_close_matches(word, sorted(known), 3, 0.6)


def _asked(near: list[str]) -> str:
    return f"Did you mean {' or '.join(near)}? " if near else ""


def _no_command(command: Any, quoted: re.Match[str] | None, verb: str) -> UsageError:
    word = quoted[1] if quoted else ""
    known = sorted(command.commands)
    meant = _near(word, known) or [one for one in known if one == ALSO_CALLED.get(word)]
    near = [f"railwright {f'{verb} ' if verb else ''}{one}" for one in meant]
    do = f"{_asked(near)}{f'railwright {verb}'.strip()} --help lists all."
    return UsageError(f"unknown command {word!r}", do=do)


def _no_option(error: Any, command: Any, verb: str) -> UsageError:
    known = [name for one in command.params for name in one.opts if name.startswith("-")]
    bare = {name.strip("-"): name for name in known}
    near = [bare[one] for one in _near(error.option_name.strip("-"), bare)]
    return UsageError(
        f"unknown option {error.option_name!r}{f' of {verb}' if verb else ''}",
        do=f"{_asked(near)}{f'railwright {verb}'.strip()} --help lists all.",
    )


def _extra(verb: str, extra: str, words: list[str]) -> UsageError:
    what = f"{verb} does not take {extra!r}"
    if verb not in _OPTION_FOR:
        return UsageError(what, do=_help(verb))
    why, how = _OPTION_FOR[verb]
    given = extra.split()
    if verb == "collect" and not all(map(is_machine_name, given)):
        given = [shlex.quote(one) for one in given]
    typed = words[len(verb.split()) :]
    filled = how.format(
        words=",".join(given) if verb == "collect" else extra,
        first=next((one for one in typed if not one.startswith("-")), "RULE"),
        all=" ".join(one for one in typed if not one.startswith("-")),
    )
    return UsageError(what, why=f"{why[0].upper()}{why[1:]}.", do=f"Write: {filled}")


def _missing(error: Any, command: Any, verb: str) -> UsageError:
    parameter = error.param
    name = parameter.metavar or str(parameter.name).upper()
    if parameter.param_type_name == "option":
        name = f"{max(parameter.opts, key=len)} {name}"
    usage = " ".join(command.collect_usage_pieces(typer.Context(command)))
    must = [
        f"{max(one.opts, key=len)} {one.metavar}"
        for one in command.params
        if one.required and one.param_type_name == "option"
    ]
    filled = usage.replace("[OPTIONS]", " ".join(must)).translate({ord("{"): "", ord("}"): ""})
    return UsageError(
        f"{verb} needs {name}", do=f"Write: railwright {verb} {' '.join(filled.split())}"
    )


# What an option takes, by what stands behind it in the help.
_KINDS = {
    **dict.fromkeys(("COUNT", "DSCP", "MIB"), "a whole number"),
    **dict.fromkeys(("SECONDS", "GBPS"), "a number"),
    "DATE": "a date such as 2027-01-31",
}


def _no_value(said: str, command: Any, verb: str) -> UsageError:
    """`Option '-w' requires an argument.`, or `Option '--json' does not take a value.`"""
    quoted = _QUOTED.search(said)
    name = quoted[1] if quoted else "an option"
    [option] = [one for one in command.params if name in one.opts] or [None]
    if getattr(option, "is_flag", False):
        return UsageError(f"{name} takes no value", do=f"Write {name} alone.")
    behind = getattr(option, "metavar", None) or "VALUE"
    what = f"{name} needs a value" + (f": {name} {behind}" if option else "")
    return UsageError(what, do=_help(verb))


def _typed_for(parameter: Any, words: list[str]) -> str | None:
    """What was typed behind an option: the parser does not always say."""
    for word, behind in zip(words, [*words[1:], None], strict=True):
        name, equals, value = word.partition("=")
        if word in parameter.opts and behind is not None:
            return behind
        if equals and name in parameter.opts:
            return value
    return None


def _range(parameter: Any) -> str:
    of = parameter if hasattr(parameter, "min") else getattr(parameter, "type", None)
    least, most = getattr(of, "min", None), getattr(of, "max", None)
    if least is None:
        return ""
    return f" from {least:g} to {most:g}" if most is not None else f" of {least:g} or more"


def _bad_value(parameter: Any, said: str, verb: str, words: list[str]) -> UsageError:
    is_option = parameter.param_type_name == "option"
    name = max(parameter.opts, key=len) if is_option else str(parameter.metavar)
    value = _typed_for(parameter, words)
    known = choices_of(parameter)
    kind = _KINDS.get(parameter.metavar or "")
    if value is not None and known:
        near = _near(value, known)
        do = f"{_asked(near)}Choose {', '.join(known[:-1])} or {known[-1]}."
        return UsageError(f"{name}: unknown value {value!r}", do=do)
    if value is not None and kind:
        what = f"{name}: {value!r} is not {kind}{_range(parameter)}"
        return UsageError(what, do=_help(verb))
    said = re.sub(r"^Invalid value for [^:]*: ", "", said).rstrip(".")
    return UsageError(f"{name}: {said}", do=_help(verb))
