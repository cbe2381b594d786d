"""`railwright plan`: from findings to a change that can be reviewed."""

import getpass
import hashlib
import shlex
import time
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import typer

from railwright.check.run import Choice, checked, chosen
from railwright.cli.common import SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.grammar import Verbs
from railwright.cli.opening import decisions, intended, one_of, opened
from railwright.cli.report import write_whole
from railwright.config import site_file, store_folder
from railwright.errors import UsageError
from railwright.node_sets import unfold
from railwright.plan.differ import differences
from railwright.plan.file import Head, as_json, read, written
from railwright.plan.guards import Kept, Owner, WayIn
from railwright.plan.make import make_plan
from railwright.plan.paths import ALLOWED, PATHS, Limits
from railwright.report.console import next_step, output, remarks
from railwright.report.findings import findings_status
from railwright.report.plan import print_plan
from railwright.report.plan_ticket import plan_ticket
from railwright.report.screen import Screen, cut
from railwright.report.status import exit_status
from railwright.settings.setting import settings

_MAKE = "make"
_PLAN = typer.Argument(..., metavar="FILE", help="Plan file.", show_default=False)
_PATHS = "|".join(PATHS)
_ALLOW = f"Allow what stops more: {', '.join(ALLOWED)}."


class Form(str, Enum):
    """How a plan is printed."""

    text = "text"
    markdown = "markdown"


class GROUP(Verbs):
    """`railwright plan` makes one; `make` need not be written."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        asks_for_help = args[:1] in (["--help"], ["-h"])
        if not asks_for_help and args[:1] != [_MAKE] and not set(args[:1]) & set(self.commands):
            args = [_MAKE, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(help="Plan changes that mend findings; nothing is changed.")


@app.command(_MAKE)
def make(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    out: Path | None = typer.Option(
        None, "--out", "-o", metavar="FILE", help="Write the plan there as JSON."
    ),
    path: str = typer.Option(
        "conservative",
        "--path",
        metavar=_PATHS,
        help="How far changes may reach: conservative or aggressive.",
    ),
    allow: list[str] = typer.Option([], "--allow", metavar="WORD", help=_ALLOW),
    select: list[str] = typer.Option(
        [], "--select", metavar="SETTING", help="Only these settings; patterns too."
    ),
    exclude: list[str] = typer.Option(
        [], "--exclude", metavar="SETTING", help="Not these settings; patterns too."
    ),
    from_peers: bool = typer.Option(
        False, "--from-peers", help="Take values that the site file lacks from like machines."
    ),
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Plan the changes that mend what check finds. Exits like check."""
    if path not in PATHS:
        raise UsageError(f"unknown path {path!r}", do=f"Choose one of {', '.join(PATHS)}.")
    for word in allow:
        if word not in ALLOWED:
            raise UsageError(f"cannot allow {word!r}", do=f"Choose of {', '.join(ALLOWED)}.")
    _known([*select, *exclude])
    folder = store_folder(store)
    now = opened(folder, one_of(snapshot, named))
    wanted, decided = intended(site, folder), decisions(waivers, folder)
    with checked(now, chosen(Choice(), wanted), wanted, decided) as findings:
        status = findings_status(findings, now)
        plan = make_plan(
            findings,
            Kept(
                Limits(path, frozenset(allow), from_peers),
                _ways_in(wanted.ways_in),
                owners=_owners(wanted.owners),
            ),
            select=select,
            exclude=exclude,
        )
    described = site_file(site, folder)
    started = now.run.get("started")
    head = Head(
        now.name,
        _digest(now.path / "run.json"),
        started if isinstance(started, float) else None,
        str(described) if described else "",
        _digest(described) if described else "",
        wanted.profile,
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        getpass.getuser(),
        status,
    )
    if out is None:
        print_plan(Screen(output()), as_json(head, plan))
        next_step("railwright plan -o plan.json")
    else:
        size = write_whole(out, written(head, plan))
        remarks().print(f"{out}: {len(plan.groups)} changes, {size:,} bytes", markup=False)
        next_step(shlex.join(["railwright", "plan", "show", str(out)]))
    raise typer.Exit(status)


@app.command()
def show(
    file: Path = _PLAN,
    numbers: list[int] = typer.Argument(
        None, metavar="[NUMBER]", help="Changes to print in full.", show_default=False
    ),
    form: Form = typer.Option(Form.text, "--format", help="Print text or markdown."),
) -> None:
    """Print a plan."""
    plan = read(file)
    if form is Form.markdown:
        for line in plan_ticket(plan):
            typer.echo(line)
    else:
        known = {one["number"] for one in plan["changes"]}
        if missing := sorted(set(numbers or ()) - known):
            raise UsageError(f"the plan has no change {missing[0]}")
        print_plan(Screen(output()), plan, numbers or ())


@app.command()
def diff(first: Path = _PLAN, second: Path = _PLAN) -> None:
    """Compare two plans. Exits 1 if they differ."""
    only_first, only_second = differences(read(first), read(second))
    screen = Screen(output())
    for sign, found in (("-", only_first), ("+", only_second)):
        for one in found:
            line = f"{sign} {one.setting}  {one.now} -> {one.wanted}  {one.machines:,}  {one.hosts}"
            screen.line(cut(screen, line))
    if not only_first and not only_second:
        screen.line("Both plans change the same.")
    raise typer.Exit(exit_status(found=bool(only_first or only_second)))


def _ways_in(declared: tuple[dict[str, Any], ...]) -> list[WayIn]:
    return [
        WayIn(name, one.get("interfaces", [])) for one in declared for name in unfold(one["hosts"])
    ]


def _owners(declared: tuple[dict[str, Any], ...]) -> list[Owner]:
    return [
        Owner(host, one["name"], one["settings"])
        for one in declared
        for host in unfold(one["hosts"])
    ]


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _known(patterns: list[str]) -> None:
    for one in patterns:
        if not any(fnmatchcase(name, one) for name in settings()):
            raise UsageError(f"no setting is called {one!r}", do="docs/repairs.md lists them.")
