"""Write the output into docs/fabric.md: `python -m tools.fabric_page`, as root.

python -m tools.fabric_page            run the commands and write their output into the page
python -m tools.fabric_page --check    run them and fail where the page says something else

Its fabric is that of lab/harness/eleven_faults.py: as it was an hour ago, and with the faults.
"""

import difflib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from lab.guide import commands, fill, steady
from lab.harness.eleven_faults import snapshots
from tools.make_examples import answer, put_program

PAGE = Path(__file__).parents[1] / "docs/fabric.md"
STORE = ".local/state/railwright"  # the usual one, below the home


def make_page(store: Path) -> str:
    """The page as its commands answer today, for somebody who has these two snapshots."""
    page = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="railwright-fabric-page-") as name:
        home = Path(name)
        shutil.copytree(store, home / STORE)
        put_program(home)
        said = [answer(line, home) for line in commands(page)]
        return fill(page, said).replace(str(home), "~")


def differences(store: Path) -> list[str]:
    """What the page says and the commands do not, or the other way round."""
    texts = (PAGE.read_text("utf-8"), make_page(store))
    then, now = (steady(text).splitlines() for text in texts)
    return list(difflib.unified_diff(then, now, lineterm=""))


def main() -> None:
    """Write the page, or check it."""
    if os.geteuid() != 0:
        sys.exit("needs root: the hosts are given a root of their own")
    with tempfile.TemporaryDirectory(prefix="railwright-eleven-") as name:
        snapshots(Path(name))
        if "--check" in sys.argv:
            found = differences(Path(name))
            print("\n".join(found))  # noqa: T201
            sys.exit(1 if found else 0)
        PAGE.write_text(make_page(Path(name)), "utf-8")


if __name__ == "__main__":
    main()
