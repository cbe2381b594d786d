"""Pages about `railwright fit`: their commands are run, and what they print stands below them.

python -m tools.fit_pages            run the commands and write their output into the pages
python -m tools.fit_pages --check    run them and fail where a page says something else
"""

import contextlib
import difflib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from lab.guide import commands, fill
from railwright.cli import main as railwright

REPOSITORY = Path(__file__).parents[1]
PAGES = ("docs/fit.md", "docs/examples/dual-port-200g.md")
PARTS = re.compile(r"```csv\n(.*?)```", re.DOTALL)  # what a reader would write as parts.csv


def _answer(line: str) -> str:
    """What a command prints, remarks included, as in a pipe. In this process: there are many."""
    said = io.StringIO()
    with (
        patch.object(sys, "argv", shlex.split(line)),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        contextlib.suppress(SystemExit),
    ):
        railwright()
    return said.getvalue()


def make_page(name: str) -> str:
    """A page as its commands answer today."""
    page = (REPOSITORY / name).read_text("utf-8")
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="railwright-fit-") as folder:
        for text in PARTS.findall(page):
            (Path(folder) / "parts.csv").write_text(text)
        os.chdir(folder)
        try:
            return fill(page, [_answer(line) for line in commands(page)])
        finally:
            os.chdir(before)


def differences(name: str) -> list[str]:
    """What the page says and the commands do not, or the other way round."""
    then = (REPOSITORY / name).read_text("utf-8").splitlines()
    return list(difflib.unified_diff(then, make_page(name).splitlines(), name, lineterm=""))


def main() -> None:
    """Write the pages, or check them."""
    if "--check" in sys.argv:
        found = [line for name in PAGES for line in differences(name)]
        print("\n".join(found))  # noqa: T201
        sys.exit(1 if found else 0)
    for name in PAGES:
        (REPOSITORY / name).write_text(make_page(name), "utf-8")


if __name__ == "__main__":
    main()
