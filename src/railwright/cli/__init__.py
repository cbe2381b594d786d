"""The command line: one file per verb, no logic."""

import os
import sys
from functools import cache
from importlib import import_module
from typing import NoReturn

import typer

from railwright import __version__
from railwright.cli import completing
from railwright.cli.fault import in_words
from railwright.cli.grammar import Verb, Verbs
from railwright.cli.interrupt import Interrupt
from railwright.cli.mistakes import mistake
from railwright.errors import RailwrightError
from railwright.report.console import CUT_OFF, remarks
from railwright.start import INTERRUPTED
from railwright.store.duck import remove_spill_folder
from railwright.text import plain

# In the order of the help. Each is a file beside this one.
VERBS = (
    *("demo", "collect", "check", "explain", "rules", "waive", "intent"),
    *(
        "facts",
        "show",
        "path",
        "links",
        "rails",
        "predict",
        "diff",
        "report",
        "plan",
        "fit",
        "hardware",
    ),
    *("sql", "evidence", "runner", "import", "merge", "store"),
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"railwright {__version__}")
        raise typer.Exit


def _main(
    _version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


@cache
def program(verb: str = "") -> typer.Typer:
    """The command line; of the named verb alone, because to read all takes half as long again."""
    app = typer.Typer(
        name="railwright",
        help="Find and explain what is wrong in the RDMA fabric of a GPU cluster.\n\n"
        "Exit status: 0 nothing to report; 1 findings or pending changes; 2 usage error or "
        "internal error; 3 incomplete or inconclusive; 4 stopped by a guard.",
        cls=Verbs,
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_main)
    for name in (verb,) if verb in VERBS else VERBS:
        python_name = "import_" if name == "import" else name
        module = import_module(f"railwright.cli.{python_name}")
        if hasattr(module, "app"):
            for command in module.app.registered_commands:
                command.cls = Verb
            app.add_typer(module.app, name=name, cls=getattr(module, "GROUP", Verbs))
        else:
            app.command(name, cls=Verb)(getattr(module, python_name))
    return app


def _run() -> NoReturn:
    """The verb that was named. What the command line itself says comes back as an exception."""
    if "--install-completion" in sys.argv or "--show-completion" in sys.argv:
        completing.answer_the_first_tab()
    command = typer.main.get_command(program(*sys.argv[1:2]))
    ended = command.main(prog_name="railwright", standalone_mode=False)
    sys.exit(ended if isinstance(ended, int) else None)


def _complete(verb: str) -> NoReturn:
    """Answer a shell that asks for completions: never with an error."""
    completing.join_at_colons(os.environ)
    try:
        program(verb)(prog_name="railwright")
    except Exception:  # a shell that waits is no place for words
        sys.exit()
    sys.exit()


def main() -> None:
    """Run it. What ends it is words and an exit status that no finding has, never a traceback."""
    with Interrupt() as interrupt:
        try:
            verb = completing.asked()
            if verb is not None:
                _complete(verb)
            _run()
        except BaseException as error:
            # On its way up Ctrl-C becomes an exit (typer), a failed query or an error of ours.
            if interrupt.came:
                remarks().print("railwright: interrupted")
                # All is put away by now; DuckDB 2.0 would print a page about what the traceback
                # still holds.
                remove_spill_folder()
                os._exit(INTERRUPTED)
            if isinstance(error, SystemExit):
                raise
            if isinstance(error, BrokenPipeError):  # `railwright facts | head`
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(CUT_OFF)
            said = in_words(mistake(error, sys.argv[1:], program))
            for number, line in enumerate(said):
                remarks().print(plain(line) if number else f"railwright: {plain(line)}")
            sys.exit(error.exit_code if isinstance(error, RailwrightError) else 2)
