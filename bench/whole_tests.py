"""Tests that CI leaves out, or of which it runs a sample, whole.

    python -m bench.whole_tests [PYTEST-ARGUMENT ...]       as root; about an hour

They bear the mark `whole` or `one_in`; elsewhere tests/conftest.py leaves them out.
"""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def main() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile"]
    done = subprocess.run(
        [*command, "-m", "whole or one_in", *(sys.argv[1:] or ["tests"])],
        cwd=REPOSITORY,
        env={**os.environ, "RAILWRIGHT_WHOLE": "1"},
        check=False,
    )
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
