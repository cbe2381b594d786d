"""Ctrl-C: whatever a verb is doing ends now, and says so in one line."""

import os
import signal
import threading
import time
from types import FrameType

from railwright.store.duck import interrupt_queries

PATIENCE_S = 2.0  # from the first Ctrl-C to one that ends everything at once


class Interrupt:
    """Whether the operator has ended it.

    Python runs a handler between two steps of the program; a query of DuckDB is one step, however
    long it takes. So a thread is woken by the signal itself and ends what is being asked.
    """

    def __init__(self) -> None:
        self.came = False
        self._at = 0.0
        self._woken, self._wakes = os.pipe()
        os.set_blocking(self._wakes, False)
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Interrupt":
        self._thread.start()
        signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)
        self._before = signal.signal(signal.SIGINT, self._raise)
        return self

    def __exit__(self, *_: object) -> None:
        """Threads that outlive the interpreter keep objects of DuckDB alive, which complains."""
        signal.signal(signal.SIGINT, self._before)
        signal.set_wakeup_fd(-1)
        os.close(self._wakes)
        self._thread.join()
        os.close(self._woken)

    def _watch(self) -> None:
        while os.read(self._woken, 1):
            interrupt_queries()

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if self.came:  # pressed twice: the first one is on its way, unless somebody holds it up
            if time.monotonic() - self._at > PATIENCE_S and callable(self._before):
                self._before(number, frame)
            return
        self._at = time.monotonic()
        self.came = True
        raise KeyboardInterrupt
