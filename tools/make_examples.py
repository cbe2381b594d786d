"""Write the output into the pages of docs/examples: `python -m tools.make_examples`, as root.

python -m tools.make_examples            run the commands and write their output into the pages
python -m tools.make_examples --check    run them and fail where a page says something else
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.fleet import two_socket_4x400g
from lab.guide import commands, fill
from lab.harness.fleets import evidence_of, snapshot_of

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs/examples/two-nodes-4x400g.md"
# When the snapshot was made and how old it is: the only things here that move by themselves.
MOMENT = re.compile(r"\b\d{4}-\d\d-\d\dT\d{4}Z(-\d+)?")
MOVING = re.compile(r"^Snapshot \S+Z(-\d+)?(, \d+ \w+ old)?,", re.MULTILINE)
COUNTS = re.compile(r"^\d+ rules(?:: .* decided.*| skipped)", re.MULTILINE)

_CARD = '[[nic]]\npsid = "MT_0000000838"\nparameters = {{ {} }}\n'
# What a reader of the page would write himself.
SITES = {
    "lossless.toml": 'profile = "roce-lossless"\n',
    "cqe.toml": _CARD.format("CQE_COMPRESSION = 2"),
    "name.toml": _CARD.format("CQE_COMPRESION = 1, NUM_OF_VFS = 1"),
}


def put_program(folder: Path) -> None:
    """`railwright` on the PATH of those who work in this folder."""
    program = folder / "bin/railwright"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m railwright "$@"\n')
    program.chmod(0o755)


def answer(line: str, folder: Path, **environment: str) -> str:
    """What a command prints, progress and remarks included, as on a terminal without colour."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec 2>&1; {line}"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=folder,
        env={
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            **environment,
        },
    )
    return done.stdout


def make_page() -> str:
    """The page as its commands answer today."""
    page = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="railwright-examples-") as name:
        folder = Path(name)
        hosts = [two_socket_4x400g(number) for number in (1, 2)]
        snapshot_of(folder / "store", evidence_of(folder / "hosts", hosts))
        for file, text in SITES.items():
            (folder / file).write_text(text)
        put_program(folder)
        store = str(folder / "store")
        said = [answer(line, folder, RAILWRIGHT_STORE=store) for line in commands(page)]
        return fill(page, said).replace(f"{folder}/", "")


def steady(text: str) -> str:
    """Without what differs from day to day."""
    return MOVING.sub(
        "Snapshot 2026-11-14T2215Z, 2 minutes old,", MOMENT.sub("2026-11-14T2215Z", text)
    )


def differences() -> list[str]:
    """What the page says and the commands do not, or the other way round.

    How many rules there are is no matter of the example: every new one would make the page wrong.
    """
    then, now = (
        COUNTS.sub("N", steady(text)).splitlines()
        for text in (PAGE.read_text("utf-8"), make_page())
    )
    return list(difflib.unified_diff(then, now, lineterm=""))


def main() -> None:
    """Write the page, or check it."""
    if os.geteuid() != 0:
        sys.exit("needs root: the hosts are given a root of their own")
    if "--check" in sys.argv:
        found = differences()
        print("\n".join(found))  # noqa: T201
        sys.exit(1 if found else 0)
    PAGE.write_text(steady(make_page()), "utf-8")


if __name__ == "__main__":
    main()
