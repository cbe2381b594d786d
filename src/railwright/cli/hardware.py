"""`railwright hardware`: what is known of adapters, switches and cables, and from where."""

import typer

from railwright.report.console import next_step, output
from railwright.report.hardware import print_hardware, print_kinds
from railwright.report.screen import Screen


def hardware(
    name: str | None = typer.Argument(
        None, help="A part (MCX755106AS-HEAT) or a kind of parts (adapter). Nothing: all names."
    ),
) -> None:
    """What is documented of adapters, switches, cables and link modes, each with its source."""
    screen = Screen(output())
    if name is None:
        print_kinds(screen)
        next_step("railwright hardware NAME")
        return
    print_hardware(screen, name)
    next_step("railwright fit ADAPTER --slot gen5x16")
