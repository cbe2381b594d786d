"""Speaking to the keeper: start one, ask it, end it."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from lab import site
from lab.live.keeper import READY
from lab.live.needs import check_memory, check_programs
from lab.live.options import Options, check
from lab.live.part import LabError
from lab.live.place import Place
from lab.sshd_fleet import LAB

_SLOWEST_DOWN_S = 120.0
_NOTHING_UP = "No lab is up. `python -m lab up` starts one."
_DIED = "The lab's keeper was killed. `python -m lab down` clears what it left."


def need_root() -> None:
    """Namespaces and mounts are root's."""
    if os.geteuid() != 0:
        raise LabError("The lab makes namespaces and mounts: run it as root.")


def start(place: Place, options: Options, tell: Callable[[str], None]) -> "subprocess.Popen[str]":
    """Bring a lab up and wait until everything answers; its keeper."""
    need_root()
    check(options)
    check_programs(options)
    check_memory(options)
    place.check()
    held = place.hold()
    if held is None:
        raise LabError("A lab is up already. `python -m lab status` shows it, `down` ends it.")
    place.release(held)
    _make_root()
    process = subprocess.Popen(
        [sys.executable, "-m", "lab.live.keeper", str(place.folder), options.text()],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip
    said = ""
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said = line.rstrip("\n")
            if said == READY:
                return process
            tell(said)
    except KeyboardInterrupt:
        tell("stopped; taking back what is up")
    finally:
        assert process.stdin is not None
        process.stdin.close()  # where it is not ready, the keeper takes everything back
        if said != READY:
            process.wait()
    raise LabError(f"The lab did not come up. {said}")


def _make_root() -> None:
    """The files that all hosts share; made once."""
    try:
        site.make_root()
    except subprocess.CalledProcessError:
        words = f"It needs debootstrap and this machine's own package source; see {LAB}/rootfs.log."
        raise LabError(f"The root file system of the hosts could not be made. {words}") from None


def ask(place: Place, wish: dict[str, Any]) -> dict[str, Any]:
    """One question; LabError with the keeper's own words where it refuses."""
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            handle = os.open(place.folder, os.O_RDONLY)
        except FileNotFoundError:
            raise LabError(_NOTHING_UP) from None
        try:
            asking.connect(f"/proc/self/fd/{handle}/{place.socket.name}")
            asking.sendall(json.dumps(wish).encode() + b"\n")
            said = asking.makefile().readline()
        except OSError:
            raise LabError(_unheard(place)) from None
        finally:
            os.close(handle)
    if not said:
        raise LabError(_DIED)
    answer: dict[str, Any] = json.loads(said)
    if "error" in answer:
        raise LabError(answer["error"])
    return answer


def _unheard(place: Place) -> str:
    """Why nobody listens."""
    held = place.hold()
    if held is None:
        return "The lab is on its way up or down: ask again in a moment."
    place.release(held)
    return _DIED


def end(place: Place) -> str:
    """Take the lab down, whatever state it is in; what was done, in words."""
    need_root()
    place.check()
    held = place.hold()
    if held is None:
        return _end_keeper(place)
    try:
        if place.clear():
            return "The keeper had been killed; what it left is cleared."
        return "No lab is up."
    finally:
        place.release(held)


def _end_keeper(place: Place) -> str:
    deadline = time.monotonic() + _SLOWEST_DOWN_S
    asked = False
    while time.monotonic() < deadline:
        held = place.hold()
        if held is not None:
            place.release(held)
            return "The lab is down."
        if not asked:
            try:
                ask(place, {"do": "down"})
                asked = True
            except LabError:  # on its way up: it hears when it is there
                pass
        time.sleep(0.1)
    raise LabError(
        f"The lab is still going down after {_SLOWEST_DOWN_S:g} s. `python -m lab down` waits on; "
        f"its log is {place.log}."
    )
