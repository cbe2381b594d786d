"""`railwright sql`: a question of one's own."""

import sys
from enum import Enum
from pathlib import Path

import typer

from railwright.check.statement import Make, made_for
from railwright.cli.common import JSON, SITE, SNAPSHOT_OPTION, STORE
from railwright.cli.opening import opened
from railwright.config import site_file, store_folder
from railwright.confine import read_only
from railwright.errors import UsageError
from railwright.intent.site import load_site
from railwright.report.console import next_step, output, remarks
from railwright.report.query_result import print_table, write_csv, write_json
from railwright.report.screen import Screen
from railwright.report.table_help import print_table_help, print_tables
from railwright.store.duck import spill_folder
from railwright.store.question import ask, closed_database, row_counts
from railwright.store.snapshot import Snapshot


class Format(str, Enum):
    """How the answer is written."""

    text = "text"
    csv = "csv"
    json = "json"


def sql(
    query: str | None = typer.Argument(
        None, help="One SELECT; - reads it from standard input. Default: list the tables."
    ),
    describe: str | None = typer.Option(
        None, "--describe", help="Describe the columns of a table."
    ),
    snapshot: str | None = SNAPSHOT_OPTION,
    form: Format = typer.Option(Format.text, "--format", help="Print text, CSV or JSON."),
    as_json: bool = JSON,
    site: Path | None = SITE,
    store: Path | None = STORE,
) -> None:
    """Query the tables of a snapshot in SQL, read-only.

    The views of rules (nic_scope, port_scope, ...) and the site's tables can be named too.
    """
    if describe:
        print_table_help(Screen(output()), describe)
        return
    if as_json and form is Format.csv:
        raise UsageError("--json and --format csv contradict each other", do="Give one of them.")
    form = Format.json if as_json else form
    question = sys.stdin.read() if query == "-" else query or ""
    folder = store_folder(store)
    found = opened(folder, snapshot)
    found.files()  # looked at here: behind the next line nothing can be remembered
    asked = None if query is None else question
    with made_for(question, lambda: load_site(site_file(site, folder)), found) as make:
        read_only(lambda: _answer(found, asked, form, make), [spill_folder()])


def _answer(snapshot: Snapshot, question: str | None, form: Format, make: Make | None) -> None:
    with closed_database(snapshot, question or "", make) as database:
        if question is None:
            print_tables(Screen(output()), row_counts(database))
            next_step("railwright sql 'SELECT * FROM rdma_port LIMIT 10'")
            return
        answer = ask(database, question)
        if form is Format.text:
            count = print_table(Screen(output()), answer)
            remarks().print(f"{count:,} row{'' if count == 1 else 's'}")
        else:
            (write_csv if form is Format.csv else write_json)(answer)
