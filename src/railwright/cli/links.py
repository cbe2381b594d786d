"""`railwright links`: every link of the fabric."""

from enum import Enum
from pathlib import Path

import typer

from railwright.check.links import links as found_links
from railwright.check.links import machines, make_links, rules_of_links
from railwright.check.run import checked, with_thresholds
from railwright.cli.common import JSON, SITE, SNAPSHOT, SNAPSHOT_OPTION, STORE, WAIVERS
from railwright.cli.opening import decisions, intended, opened
from railwright.config import store_folder
from railwright.fabric.ends import no_machine
from railwright.intent.cabling import Names, strangers
from railwright.node_sets import unfold
from railwright.report.console import next_step, output
from railwright.report.links import links_json, links_status, print_counts, print_links
from railwright.report.screen import Screen


class Role(str, Enum):
    """What a link is for."""

    any = ""
    host = "host"
    fabric = "fabric"


def links(
    snapshot: str | None = SNAPSHOT,
    named: str | None = SNAPSHOT_OPTION,
    on: str | None = typer.Option(
        None, "--on", help="Show only links of these hosts and switches, e.g. gpu[001-004]."
    ),
    role: Role = typer.Option(
        Role.any, "--role", help="Show only links to hosts (host) or between switches (fabric)."
    ),
    odd: bool = typer.Option(
        False, "--odd", help="Show only links that are down, contradictory or have findings."
    ),
    as_json: bool = JSON,
    site: Path | None = SITE,
    waivers: Path | None = WAIVERS,
    store: Path | None = STORE,
) -> None:
    """List every link and its findings. Exits 1 if there are findings, 3 if inconclusive."""
    folder = store_folder(store)
    now = opened(folder, snapshot, named)
    wanted = intended(site, folder)
    decided = decisions(waivers, folder)
    rules = with_thresholds(rules_of_links(), wanted)
    with checked(now, rules, wanted, decided) as findings:
        names = Names(findings.database, now.facts) if wanted.cables else None
        unread = strangers(names, wanted.cables) if names else []
        counts = make_links(findings)
        status = links_status(counts, now)
        asked = unfold(on) if on else None
        for name in asked or ():
            if name not in (known := machines(findings)):
                raise no_machine(name, known)
        found = found_links(findings, asked, role.value, only_odd=odd)
        if as_json:
            typer.echo(links_json(now.name, status, counts, unread, found))
        else:
            screen = Screen(output())
            print_counts(screen, now.title, counts, unread)
            if counts.links:
                print_links(screen, found)
    next_step("railwright path HOST:DEVICE HOST:DEVICE")
    raise typer.Exit(status)
