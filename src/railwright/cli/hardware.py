"""`railwright hardware`: what is known of adapters, switches and cables, and from where."""

import typer

from railwright.cli.common import FORMAT, JSON, Form
from railwright.report.console import next_step, output
from railwright.report.hardware import find_rows, hardware_json, print_hardware, print_kinds
from railwright.report.screen import Screen


def hardware(
    name: str | None = typer.Argument(
        None, help="Part (MCX755106AS-HEAT) or kind of part (adapter). Default: list all names."
    ),
    form: Form = FORMAT,
    as_json: bool = JSON,
) -> None:
    """Show documented data of adapters, switches, cables and link modes, with sources."""
    found = find_rows(name)
    if as_json or form is Form.json:
        typer.echo(hardware_json(found))
    elif name is None:
        print_kinds(Screen(output()))
    else:
        print_hardware(Screen(output()), found)
    next_step("railwright fit ADAPTER --slot gen5x16" if name else "railwright hardware NAME")
