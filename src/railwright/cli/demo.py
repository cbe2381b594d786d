"""`railwright demo`: a broken fabric to look at, on any machine."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from railwright.cli import program
from railwright.demo import unpack
from railwright.report.console import output, remarks
from railwright.report.screen import Screen

# What is typed, and what a reader should see in it.
WALK = (
    (("check",), "What is wrong in 32 hosts with 8 GPUs each, worst first; what is inconclusive."),
    (
        ("explain", "pcie-link-narrow", "--subject", "ember-h007:0000:29:00.0"),
        "Why it matters, what to do, the facts behind the verdict and the evidence behind these.",
    ),
    (("show", "ember-h007"), "That host on one screen: the second NIC has 8 of its 16 lanes."),
)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield unpack(keep.absolute())
        return
    with tempfile.TemporaryDirectory(prefix="railwright-demo-") as name:
        yield unpack(Path(name))


def demo(
    keep: Path | None = typer.Option(
        None, "--keep", metavar="FOLDER", help="Unpack it there and keep it."
    ),
) -> None:
    """Tour a bundled fabric of 32 hosts with faults. No root, no network, no hardware."""
    screen = Screen(output())
    with _folder(keep) as store:
        screen.line(f"$ export RAILWRIGHT_STORE={store}")
        os.environ["RAILWRIGHT_STORE"] = str(store)
        if keep is None:
            os.environ["XDG_CACHE_HOME"] = str(store)  # what is remembered goes with it
        for name in ("RAILWRIGHT_SITE", "RAILWRIGHT_WAIVERS"):
            os.environ.pop(name, None)  # the fabric brings its own
        for words, about in WALK:
            screen.line()
            screen.line(f"# {about}", "dim")
            screen.heading(f"$ railwright {' '.join(words)}")
            verb = typer.main.get_command(program(words[0]))
            verb.main(list(words), prog_name="railwright", standalone_mode=False)
    if keep is None:
        remarks().print("Next: railwright demo --keep railwright-demo, to go on by hand")
    else:
        remarks().print(f"Next: export RAILWRIGHT_STORE={keep.absolute()}, and go on by hand")
