"""`railwright rails`: which leaf has which rail."""

import shlex
from pathlib import Path

import typer

from railwright.check.rails import misplaced, rules_of_rails, undecided
from railwright.check.run import checked, with_thresholds
from railwright.cli.common import JSON, SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.opening import decisions, intended, opened
from railwright.config import store_folder
from railwright.fabric.rails import rails as matrix
from railwright.report.console import next_step, output
from railwright.report.rails import Matrix, print_rails, rails_json
from railwright.report.screen import Screen


def rails(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    as_json: bool = JSON,
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """Show which leaf has which rail. Exits 1 if ports are misplaced, 3 if inconclusive."""
    folder = store_folder(store)
    now = opened(folder, snapshot, named)
    wanted = intended(site, folder)
    rules = with_thresholds(rules_of_rails(), wanted)
    with checked(now, rules, wanted, decisions(waivers, folder)) as findings:
        found = Matrix(matrix(findings.database), misplaced(findings), undecided(findings))
    status = found.status(now)
    if as_json:
        typer.echo(rails_json(now.name, status, found))
    else:
        print_rails(Screen(output()), now.title, found)
    if found.misplaced:
        first = found.misplaced[0]
        next_step(shlex.join(["railwright", "explain", first.rule, "--subject", first.port]))
    else:
        next_step("railwright path")
    raise typer.Exit(status)
