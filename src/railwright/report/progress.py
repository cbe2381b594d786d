"""Progress on standard error: done, failed, to go, bytes, time left."""

import time
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

QUIET_S = 2.0  # anything shorter needs no progress
LINE_EVERY_S = 10.0  # where there is no terminal


class Counts(Protocol):
    """What a run can say about itself."""

    total: int
    reached: int
    failed: int
    bytes: int

    @property
    def to_go(self) -> int:
        """Machines that have not ended."""


def _time_left(counts: Counts, elapsed: float) -> str:
    done = counts.total - counts.to_go
    if not done or not counts.to_go:
        return ""
    seconds = elapsed / done * counts.to_go
    return (
        f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"
    )


def line(counts: Counts, elapsed: float) -> str:
    """`reading: 120 done, 3 failed, 389 to go, 41.2 MB, about 35 s left`."""
    return (
        f"reading: {counts.reached} done, {counts.failed} failed, {counts.to_go} to go, "
        f"{counts.bytes / 1e6:.1f} MB{_time_left(counts, elapsed)}"
    )


class Progress:
    """A live line on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._last = self._began
        # No refresh thread: this process forks, and the caller shows us often enough.
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> "Progress":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, counts: Counts) -> None:
        """Show how far it is."""
        now = time.monotonic()
        elapsed = now - self._began
        if elapsed < QUIET_S:
            return
        if self._console.is_terminal:
            self._live.update(Text(line(counts, elapsed)), refresh=True)
        elif now - self._last >= LINE_EVERY_S:
            self._last = now
            self._console.print(line(counts, elapsed))
