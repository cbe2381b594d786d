"""`railwright rules`: the catalogue."""

from pathlib import Path

import typer

from railwright.check.pack import load_pack
from railwright.check.rule import shipped
from railwright.report.console import next_step, output
from railwright.report.rule_help import print_rules
from railwright.report.screen import Screen


def rules(
    pack: list[Path] = typer.Option(
        [], "--rules", help="Validate a folder of your own rules, run its cases and list it."
    ),
) -> None:
    """List every rule. Rules marked preview run only when selected."""
    found = dict(shipped())
    for folder in pack:
        found |= load_pack(folder)
    print_rules(Screen(output()), sorted(found.values(), key=lambda rule: (rule.topic, rule.id)))
    next_step("railwright explain RULE")
