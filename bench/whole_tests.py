"""Tests of which CI runs a sample, whole.

    python -m bench.whole_tests       as root; some minutes

Their files say in what the sample differs: `WHOLE` of tests/conftest.py.
"""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
FILES = ("tests/test_tainted_snapshots.py", "tests/test_removed_evidence.py")


def main() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *FILES]
    done = subprocess.run(
        [*command, "--dist", "loadfile"],
        cwd=REPOSITORY,
        env={**os.environ, "RAILWRIGHT_WHOLE": "1"},
        check=False,
    )
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
