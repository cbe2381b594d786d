"""Ctrl-C: whatever a verb is doing ends now, and says so in one line."""

import os
import signal
import threading
from types import FrameType
from typing import NoReturn

from railwright.facts.duck import interrupt_queries


class Interrupt:
    """Whether the operator has ended it.

    Python runs a handler between two steps of the program; a query of DuckDB is one step, however
    long it takes. So a thread is woken by the signal itself and ends what is being asked.
    """

    def __init__(self) -> None:
        self.came = False
        self._woken, self._wakes = os.pipe()
        os.set_blocking(self._wakes, False)
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Interrupt":
        self._thread.start()
        signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, self._raise)
        return self

    def __exit__(self, *_: object) -> None:
        """Threads that outlive the interpreter keep objects of DuckDB alive, which complains."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(-1)
        os.close(self._wakes)
        self._thread.join()
        os.close(self._woken)

    def _watch(self) -> None:
        while os.read(self._woken, 1):
            self.came = True
            interrupt_queries()

    def _raise(self, _number: int, _frame: FrameType | None) -> NoReturn:
        self.came = True
        raise KeyboardInterrupt
