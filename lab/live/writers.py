"""Writing the files of many hosts in several processes, each host told of when it is done."""

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection

_WRITERS = 2
_PR_SET_PDEATHSIG = 1  # Linux include/uapi/linux/prctl.h


def in_processes(jobs: Sequence[Callable[[], object]]) -> Iterator[None]:
    """Do all jobs; gives a None for each, in their order, when it is done.

    Forked, because models are not made to be sent anywhere. Processes end with the thread that
    asks, also after kill -9.
    """
    context = multiprocessing.get_context("fork")
    started = []
    try:
        for first in range(min(_WRITERS, len(jobs))):
            here, there = context.Pipe(duplex=False)
            mine = jobs[first::_WRITERS]
            process = context.Process(target=_work, args=(os.getpid(), mine, there))
            process.start()
            there.close()
            started.append((process, here))
        for number in range(len(jobs)):
            try:
                trouble = started[number % _WRITERS][1].recv()
            except EOFError:
                trouble = "the process that wrote it was ended"
            if trouble:
                raise RuntimeError(f"the files of host {number + 1} were not written: {trouble}")
            yield None
    finally:
        for process, here in started:
            here.close()
            process.kill()
            process.join()


def _work(parent: int, jobs: Sequence[Callable[[], object]], told: Connection) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    for job in jobs:
        try:
            job()
        except Exception as error:  # the parent raises it
            told.send(f"{type(error).__name__}: {error}")
            return
        told.send("")
