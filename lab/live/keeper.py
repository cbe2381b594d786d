"""The process that everything of a lab belongs to: it dies, and all of it does.

    python -m lab.live.keeper FOLDER OPTIONS      started by `lab up`, never by hand

Its stdin is held open by whoever waits for the lab to come up: where that ends too early, the lab
is taken back. Its stdout tells how far it is, line by line, and the last line is `ready`.
"""

import json
import os
import select
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.live.names import nearest
from lab.live.options import Options, options_of, parts
from lab.live.part import LabError, Part
from lab.live.place import Place
from lab.live.sockets import listen

READY = "ready"
_ASKED_S = 5.0  # how long one who asks may take to say what
_BETWEEN_TICKS_S = 0.2
_LONGEST = 32 << 20  # of what somebody asks
_OWN = ("reboot", "run", "sync", "write")  # what a machine may ask for itself
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
Answer = dict[str, Any]


class _EndedError(BaseException):  # whoever catches what went wrong must not catch this
    """Nobody wants this lab any more."""


class Keeper:
    """A lab that is up."""

    def __init__(self, place: Place, options: Options) -> None:
        self.place, self.options = place, options
        self.hosts, self.parts = parts(options)
        self._listener = socket.socket(socket.AF_UNIX)
        self._ends = False
        self._told: set[str] = set()  # what went wrong already
        self._does: dict[str, Callable[[Answer], Answer]] = {
            "status": self._status,
            "faults": self._faults,
            "break": self._break,
            "heal": self._heal,
            "reboot": self._reboot,
            "run": self._run,
            "sync": self._sync,
            "write": self._write,
            "misbehave": self._misbehave,
            "behave": self._behave,
            "down": self._down,
        }

    # ---- up and down

    def up(self) -> None:
        """Bring everything up, as long as somebody waits for it."""
        self.hub = self.hosts.prepare(self.place.fleet)
        self.place.note(self.hub.prefix)
        for part in self.parts:
            for words in part.up(self.hub):
                if not _is_awaited():
                    raise _EndedError
                print(words, flush=True)
        self._write_files()
        # Before anybody is told that it is up: the next word may be a question.
        listen(self._listener, self.place.socket)
        self.place.socket.chmod(0o600)

    def down(self) -> None:
        """End everything; where a part cannot be, the others still are."""
        self._listener.close()
        for part in reversed(self.parts):
            try:
                part.down()
            except Exception:
                traceback.print_exc()

    def _write_files(self) -> None:
        self.place.ssh.mkdir()
        blocks = [part.ssh_config() for part in self.parts]
        (self.place.ssh / "lab.conf").write_text("\n".join(block for block in blocks if block))
        for part in self.parts:
            for name, text in part.files().items():
                (self.place.folder / name).write_text(text)

    # ---- what it is asked

    def serve(self) -> None:
        """Answer until somebody says down."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._listener, selectors.EVENT_READ, "")
            for part in self.parts:
                for other, machine in part.listeners():
                    waiting.register(other, selectors.EVENT_READ, machine)
            while not self._ends:
                for key, _ in waiting.select(_BETWEEN_TICKS_S):
                    assert isinstance(key.fileobj, socket.socket)
                    self._answer(key.fileobj.accept()[0], key.data)
                for part in self.parts:
                    self._tick(part)

    def _tick(self, part: Part) -> None:
        """Where one part cannot do what it put off, the lab stays up; the log says so once."""
        try:
            part.tick()
        except Exception as error:
            words = f"{part.name}: {error!r}"
            if words not in self._told:
                self._told.add(words)
                traceback.print_exc()

    def _answer(self, asking: socket.socket, machine: str) -> None:
        """One line of JSON in, one out; a machine may only speak for itself."""
        with asking:
            asking.settimeout(_ASKED_S)
            try:
                wish = json.loads(asking.makefile().readline(_LONGEST))
                if machine:
                    wish = {**wish, "machine": machine} if wish["do"] in _OWN else {}
                said = self._does[wish["do"]](wish)
            except LabError as error:
                said = {"error": str(error)}
            except Exception as error:
                traceback.print_exc()
                what = f"{type(error).__name__}: {error}"
                said = {"error": f"The keeper could not do it: {what}. See {self.place.log}."}
            try:
                asking.sendall(json.dumps(said).encode() + b"\n")
            except OSError:  # a machine that has just been restarted hears nothing
                pass

    def _part_of(self, machine: str) -> Part:
        names = {status.name: part for part in self.parts for status in part.status()}
        if machine not in names:
            raise LabError(f"Nothing here is called {machine}. {nearest(machine, names)}".rstrip())
        return names[machine]

    def _status(self, _: Answer) -> Answer:
        arguments = [word for part in self.parts for word in part.collect_arguments()]
        return {
            "machines": {part.name: [one.told() for one in part.status()] for part in self.parts},
            "hub": self.hub.namespace,
            "collect": ["railwright", "collect", *arguments],
            "environment": {k: v for part in self.parts for k, v in part.environment().items()},
        }

    def _faults(self, wish: Answer) -> Answer:
        machine = wish.get("machine", "")
        chosen = [self._part_of(machine)] if machine else self.parts
        return {"faults": {part.name: part.faults(machine) for part in chosen}}

    def _break(self, wish: Answer) -> Answer:
        machine = wish["machine"]
        words = self._part_of(machine).strike(
            machine, wish["fault"], wish.get("at", ""), earlier=wish.get("earlier", False)
        )
        return {"said": [words]}

    def _heal(self, wish: Answer) -> Answer:
        if wish.get("machine"):
            return {"said": [self._part_of(wish["machine"]).heal(wish["machine"])]}
        struck = [(part, one) for part in self.parts for one in part.status() if one.faults]
        return {"said": [part.heal(one.name) for part, one in struck]}

    def _reboot(self, wish: Answer) -> Answer:
        part, machine = self._part_of(wish["machine"]), wish["machine"]
        if wish.get("power"):
            return {"said": [part.power_cycle(machine)]}
        return {"said": [part.reboot(machine)]}

    def _run(self, wish: Answer) -> Answer:
        argv = [str(word) for word in wish["argv"]]
        part = self._part_of(wish["machine"])
        stdout, stderr, code = part.run(wish["machine"], argv, str(wish.get("stdin", "")))
        return {"stdout": stdout, "stderr": stderr, "code": code}

    def _sync(self, wish: Answer) -> Answer:
        self._part_of(wish["machine"]).sync(wish["machine"])
        return {}

    def _write(self, wish: Answer) -> Answer:
        return self._part_of(wish["machine"]).write(wish["machine"], wish)

    def _misbehave(self, wish: Answer) -> Answer:
        machine = wish["machine"]
        given = {name: wish[name] for name in ("at", "value", "times") if name in wish}
        return {"said": [self._part_of(machine).order(machine, wish["kind"], **given)]}

    def _behave(self, wish: Answer) -> Answer:
        return {"said": [self._part_of(wish["machine"]).behave(wish["machine"])]}

    def _down(self, _: Answer) -> Answer:
        self._ends = True
        return {"said": ["going down"]}


def _is_awaited() -> bool:
    """Whether stdin is still open; nobody ever writes to it."""
    readable, _, _ = select.select([sys.stdin], [], [], 0)
    return not readable


def _stop(*_: object) -> None:
    raise _EndedError


def main() -> None:
    place, options = Place(Path(sys.argv[1])), options_of(sys.argv[2])
    held = place.hold()
    if held is None:
        sys.exit("Another keeper has this lab.")
    place.clear()
    place.folder.mkdir(parents=True)
    os.dup2(os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    for number in _ENDING:
        signal.signal(number, _stop)
    trouble = _keep(place, options)
    place.release(held)
    if trouble:
        # In one line, the last: it is what whoever waited is told.
        print(" | ".join(line for line in trouble.splitlines() if line.strip()), flush=True)
        sys.exit(1)


def _keep(place: Place, options: Options) -> str:
    """Up, serve, down; what went wrong, in words."""
    trouble, keeper = "", None
    try:
        keeper = Keeper(place, options)
        keeper.up()
        print(READY, flush=True)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        keeper.serve()
    except _EndedError:
        pass
    except LabError as error:
        trouble = str(error)
    except Exception as error:
        traceback.print_exc()
        trouble = f"{type(error).__name__}: {error}"
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    if keeper is not None:
        keeper.down()
    place.clear()
    return trouble


if __name__ == "__main__":
    main()
