"""`railwright demo`: a broken fabric to look at, on any machine."""

import os
from pathlib import Path

import typer

from railwright.cli import program
from railwright.config import own_store, store_folder
from railwright.demo import install, remove, unpack
from railwright.errors import UsageError
from railwright.report.console import output, remarks
from railwright.report.screen import Screen

# What is typed, and what a reader should see in it.
WALK = (
    (
        ("check",),
        "What is wrong in 32 hosts and 14 switches, worst first; what is inconclusive.",
    ),
    (
        ("explain", "pcie-link-narrow", "--subject", "ember-h007:0000:29:00.0"),
        "Why it matters, what to do, the facts behind the verdict and the evidence behind these.",
    ),
)
# What else there is to see in it.
MORE = (
    ("path ember-h002:mlx5_4 ember-h009:mlx5_1", "hop by hop: where its packets are lost, and why"),
    ("rails", "which leaf each rail ends in; two cables are mixed up"),
    ("diff", "what has changed since the day before"),
    ("check --before previous", "the same findings, and what counters have counted since then"),
    ("show ember-h007", "one host on one screen: its second NIC has 8 of its 16 lanes"),
)


def demo(
    keep: Path | None = typer.Option(
        None, "--keep", metavar="FOLDER", help="Unpack it there, for RAILWRIGHT_STORE."
    ),
    remove_it: bool = typer.Option(False, "--remove", help="Delete the demo data."),
    page: Path | None = typer.Option(
        None, "--report", metavar="FILE", help="Write its report page there instead of the tour."
    ),
) -> None:
    """Tour a bundled fabric of 32 hosts and 14 switches with faults.

    Needs no root, no network and no hardware. All commands use its data until your first collect.
    """
    if keep is not None and remove_it:
        raise UsageError("--keep and --remove cannot be combined", do="Use one of them.")
    if remove_it:
        remarks().print("The demo data is deleted." if remove() else "There is no demo data.")
        return
    if page is not None:
        _page(keep.absolute() if keep is not None else None, page)
        return
    own = own_store()  # before the tour names the demo's
    store = unpack(keep.absolute()) if keep is not None else install()
    is_used = keep is None and store_folder() == store
    _walk(store, by_name=not is_used)
    if is_used:
        remarks().print("All commands use the demo data until your first collect. To go on:")
    else:
        if keep is None:
            said = f"There are snapshots of yours in {own}: they come first."
            remarks().print(said, soft_wrap=True)
        remarks().print(f"To go on, after export RAILWRIGHT_STORE={store}:", soft_wrap=True)
    for words, about in MORE:
        remarks().print(f"  railwright {words:42}  {about}")


def _page(keep: Path | None, page: Path) -> None:
    """The report of the demo; findings in it are no error of this command."""
    store = unpack(keep) if keep is not None else install()
    words = ["--store", str(store), "--before", "previous", "--out", str(page)]
    verb = typer.main.get_command(program("report"))
    verb.main(["report", *words], prog_name="railwright", standalone_mode=False)


def _walk(store: Path, *, by_name: bool) -> None:
    """Each command as it is typed, and what it prints."""
    screen = Screen(output())
    if by_name:
        screen.line(f"$ export RAILWRIGHT_STORE={store}")
    os.environ["RAILWRIGHT_STORE"] = str(store)
    for name in ("RAILWRIGHT_SITE", "RAILWRIGHT_WAIVERS"):
        os.environ.pop(name, None)  # the fabric brings its own
    for number, (words, about) in enumerate(WALK):
        if number or by_name:
            screen.line()
        screen.line(f"# {about}", "dim")
        screen.heading(f"$ railwright {' '.join(words)}")
        verb = typer.main.get_command(program(words[0]))
        verb.main(list(words), prog_name="railwright", standalone_mode=False)
