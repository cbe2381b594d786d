"""The first moments: Ctrl-C ends the program with one line before anything else is read."""

import os
import signal

INTERRUPTED = 130  # 128 + SIGINT: the operator ended it


def _end(_number: int, _frame: object) -> None:
    os.write(2, b"railwright: interrupted\n")
    os._exit(INTERRUPTED)


signal.signal(signal.SIGINT, _end)


def main() -> None:
    """Run the command line; reading it takes longer than many a verb."""
    from railwright.cli import main as command_line  # noqa: PLC0415 (behind the signal)

    command_line()
