"""`railwright rules`: the catalogue."""

from pathlib import Path

import typer

from railwright.check.pack import load_pack
from railwright.check.rule import shipped
from railwright.cli.common import JSON
from railwright.report.console import next_step, output
from railwright.report.rule_help import print_rules, rules_json
from railwright.report.screen import Screen
from railwright.report.status import exit_status


def rules(
    pack: list[Path] = typer.Option(
        [], "--rules", help="Validate a folder of your own rules, run its cases and list it."
    ),
    as_json: bool = JSON,
) -> None:
    """List every rule. Rules marked preview run only when selected."""
    found = dict(shipped())
    for folder in pack:
        found |= load_pack(folder)
    ordered = sorted(found.values(), key=lambda rule: (rule.topic, rule.id))
    if as_json:
        typer.echo(rules_json(ordered, exit_status()))
    else:
        print_rules(Screen(output()), ordered)
    next_step("railwright explain RULE")
