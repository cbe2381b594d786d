"""The command line: one file per verb, no logic."""

import os
import sys

import typer

from railwright import __version__
from railwright.cli import (
    check,
    collect,
    demo,
    diff,
    evidence,
    explain,
    facts,
    fit,
    hardware,
    import_,
    intent,
    links,
    merge,
    path,
    predict,
    rails,
    rules,
    runner,
    show,
    sql,
    store,
    waive,
)
from railwright.cli.common import INTERRUPTED
from railwright.cli.interrupt import Interrupt
from railwright.errors import RailwrightError
from railwright.report.console import CUT_OFF, remarks

app = typer.Typer(
    name="railwright",
    help="Makes the RDMA fabric of a GPU cluster true and keeps it so.\n\n"
    "Exit status: 0 nothing to report; 1 findings, or changes waiting; 2 wrong use or a fault of "
    "this tool; 3 incomplete: something could not be read; 4 stopped by a guard.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"railwright {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    _version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


app.command("demo")(demo.demo)
app.command("collect")(collect.collect)
app.command("check")(check.check)
app.command("explain")(explain.explain)
app.command("rules")(rules.rules)
app.command("waive")(waive.waive)
app.add_typer(intent.app, name="intent")
app.command("facts")(facts.facts)
app.command("show")(show.show)
app.command("path")(path.path)
app.command("links")(links.links)
app.command("rails")(rails.rails)
app.add_typer(predict.app, name="predict")
app.command("diff")(diff.diff)
app.command("fit")(fit.fit)
app.command("hardware")(hardware.hardware)
app.command("sql")(sql.sql)
app.command("evidence")(evidence.evidence)
app.command("runner")(runner.runner)
app.command("import")(import_.import_)
app.command("merge")(merge.merge)
app.add_typer(store.app, name="store")


def main() -> None:
    """Run it; a fault of the tool is three plain lines and exit status 2, never a traceback."""
    with Interrupt() as interrupt:
        try:
            app()
        except BaseException as error:
            # On its way up Ctrl-C becomes an exit (typer), a failed query or an error of ours.
            if interrupt.came:
                remarks().print("railwright: interrupted")
                # All is put away by now; DuckDB 2.0 would print a page about what the traceback
                # still holds.
                os._exit(INTERRUPTED)
            if isinstance(error, RailwrightError):
                for number, line in enumerate(error.lines()):
                    remarks().print(line if number else f"railwright: {line}")
                sys.exit(2)
            if isinstance(error, BrokenPipeError):  # `railwright facts | head`
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(CUT_OFF)
            raise
