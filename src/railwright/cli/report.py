"""`railwright report`: one file to look at and to pass on."""

import os
import shlex
import sys
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

import typer

from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.opening import decisions, intended, one_of, opened, opened_before
from railwright.config import store_folder
from railwright.errors import UsageError
from railwright.model.compare import difference
from railwright.report.console import next_step, remarks
from railwright.report.findings import findings_status
from railwright.report.page.collect import changes_of, collected
from railwright.report.page.file import html
from railwright.report.page.redact import redacted
from railwright.report.ticket import as_markdown

OUT = Path("report.html")


class Form(str, Enum):
    """What is written."""

    html = "html"
    markdown = "markdown"


def report(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    out: Path = typer.Option(
        OUT,
        "--out",
        "-o",
        metavar="FILE",
        help="File to write; - for standard output.",
    ),
    before: str | None = typer.Option(
        None,
        "--before",
        help="Earlier snapshot to compare with; 'previous' takes the one before.",
    ),
    path: list[str] = typer.Option(
        [],
        "--path",
        metavar="PORTS",
        help="Show the path between two ports too: 'gpu001:mlx5_0 gpu002:mlx5_0'.",
    ),
    static: bool = typer.Option(
        False, "--static", help="Leave out script and data: verdict and findings, for mail."
    ),
    redact: bool = typer.Option(
        False, "--redact", help="Give machines other names; leave out addresses and people."
    ),
    form: Form = typer.Option(Form.html, "--format", help="Print html or markdown."),
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Write one page: verdict, map, hosts, paths and findings.

    The file loads nothing and sends nothing; it holds host names and addresses. Exits like check.
    """
    folder = store_folder(store)
    now = opened(folder, one_of(snapshot, named))
    earlier = opened_before(folder, before, now) if before else None
    wanted, decided = intended(site, folder), decisions(waivers, folder)
    pairs = [_pair(one) for one in path]
    if form is Form.markdown and (static or redact or path):
        raise UsageError(
            "--format markdown goes with none of --static, --redact and --path",
            do="Leave one out.",
        )
    if form is Form.markdown and out == OUT:
        out = Path("-")
    changes = None
    if earlier:
        found = difference(earlier, now, None)
        changes = changes_of(earlier, now, found)
    with checked(now, chosen(Choice(), wanted), wanted, decided, before=earlier) as findings:
        if form is Form.markdown:
            status = findings_status(findings, now)
            _put(out, as_markdown(findings, wanted.profile, status))
            raise typer.Exit(status)
        page = collected(findings, wanted, decided, pairs, changes)
    if redact:
        page = redacted(page)
    _put(out, html(page, with_script=not static))
    raise typer.Exit(page.status)


def _put(out: Path, parts: Iterable[str]) -> None:
    """To standard output, or to a file of which the size is told."""
    if str(out) == "-":
        for part in parts:
            sys.stdout.write(part)
    else:
        size = write_whole(out, parts)
        remarks().print(f"{out}: {size:,} bytes", markup=False)
        next_step(shlex.join(["xdg-open", str(out)]))


def _pair(text: str) -> tuple[str, str]:
    """`gpu001:mlx5_0 gpu002:mlx5_0`, as `railwright path` takes them."""
    ends = text.split()
    if len(ends) != 2:
        raise UsageError(
            f"--path takes two ports, not {text!r}",
            do="For example: --path 'gpu001:mlx5_0 gpu002:mlx5_0'.",
        )
    return ends[0], ends[1]


def write_whole(out: Path, parts: Iterable[str]) -> int:
    """Beside it first: a page that was cut off never stands in the place of a whole one."""
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8", errors="surrogatepass") as file:
            file.writelines(parts)
        size = beside.stat().st_size
        beside.replace(out)
    except OSError as error:
        raise UsageError(
            f"cannot write {out}: {error.strerror}", do="Name another file."
        ) from error
    finally:
        beside.unlink(missing_ok=True)
    return size
