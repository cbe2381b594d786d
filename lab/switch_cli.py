"""What answers behind an ssh login in place of a switch's CLI. Runs alone, without packages.

    python3 switch_cli.py SETTINGS.json

A CLI on a terminal: it echoes what is typed, ends its lines with two carriage returns, has a
prompt, a banner and a pager. `trouble` makes it one of those that a site really has.
"""

import json
import os
import socket
import sys
import termios
import time
import tty
from pathlib import Path
from typing import Any

LINES = 24
INTERRUPT, END, BACKSPACES = b"\x03", b"\x04", (b"\x7f", b"\x08")


def main(settings: dict[str, Any]) -> None:
    """Speak until the other side leaves."""
    cli = Cli(settings)
    if not os.isatty(0):  # `ssh switch exec /bin/sh`: it takes that for a line of its own
        cli.say("% Invalid input\n")
        return
    tty.setraw(0, termios.TCSANOW)
    cli.say(settings.get("banner", ""))
    if cli.trouble and settings.get("at") == "login":
        cli.make_trouble()
    cli.prompt()
    line = b""
    while True:
        got = cli.typed()
        if not got or got == END:
            cli.leave()
            return
        if got == INTERRUPT:
            cli.echo(b"^C\r\r\n")
            line = b""
            cli.prompt()
        elif got in BACKSPACES:
            cli.echo(b"\b \b" if line else b"")
            line = line[:-1]
        elif got in (b"\r", b"\n"):
            cli.echo(b"\r\r\n")
            if not cli.take(line.decode("ascii", "replace").strip()):
                cli.leave()
                return
            line = b""
            cli.prompt()
        else:
            cli.echo(got)
            line += got


def asked(folder: str, wish: dict[str, Any]) -> dict[str, Any]:
    """One question to the lab's keeper, whose socket is in the folder; as in switch_ask.py."""
    with socket.socket(socket.AF_UNIX) as keeper:
        handle = os.open(folder, os.O_RDONLY)
        try:
            keeper.connect(f"/proc/self/fd/{handle}/keeper.sock")
        except OSError:
            return {"error": "% Invalid input"}
        finally:
            os.close(handle)
        keeper.sendall(json.dumps({"do": "write", **wish}).encode() + b"\n")
        said = keeper.makefile().readline()
    found: dict[str, Any] = json.loads(said) if said else {"error": "% Invalid input"}
    return found


class Cli:
    """One session."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.trouble = settings.get("trouble", "")
        self.paging = True
        self.who = os.urandom(8).hex()  # for the keeper, which knows where each login is
        self.first = self.where = settings["prompt"]
        self._typed = b""  # read, and not looked at yet
        self._echo = b""

    def typed(self) -> bytes:
        """The next key; nothing where the other side has left. What was echoed goes out first."""
        if not self._typed:
            self._flush()
            self._typed = os.read(0, 4096)
        key, self._typed = self._typed[:1], self._typed[1:]
        return key

    def echo(self, data: bytes) -> None:
        """All that was typed at once is echoed at once: a terminal does it key by key."""
        self._echo += data

    def _flush(self) -> None:
        while self._echo:
            self._echo = self._echo[os.write(1, self._echo) :]

    def say(self, text: str) -> None:
        """Text as it comes through a terminal."""
        self._flush()
        data = text.replace("\n", "\r\r\n").encode()
        while data:
            data = data[os.write(1, data) :]

    def prompt(self) -> None:
        """In colour, as some are."""
        self.echo(b"\x1b[1m" + self.where.encode() + b"\x1b[0m")
        self._flush()

    def note(self, text: str) -> None:
        """What was typed, for the test to look at."""
        with Path(self.settings["log"]).open("a", encoding="utf-8") as log:
            log.write(text + "\n")

    def take(self, line: str) -> bool:
        """One line; false where the session ends."""
        self.note(line)
        if line == "exit" and self.where in (self.first, self.first.replace(">", "#")):
            return False
        if self.trouble and line == self.settings.get("at"):
            return self.make_trouble()
        if line in self.settings["pager_off"]:
            self.paging = self.trouble == "pager stays"
        elif line and not line.startswith("!") and line not in self.settings.get("session", ()):
            self.answer(line)
        return True

    def answer(self, line: str) -> None:
        """What the command prints, or that it is not to be had."""
        answer = self.known(line)
        if line in self.settings.get("denied", ()):
            self.say(f"% Authorization denied for command '{line}'\n")
        elif answer is None:
            self.ask(line)
        else:
            self.page(answer if answer.endswith("\n") else answer + "\n")

    def ask(self, line: str) -> None:
        """What only the keeper knows: it may change the switch, and where one is in its CLI."""
        if "asks" not in self.settings:
            self.say("% Invalid input (at token 1: 'x')\n")
            return
        said = asked(self.settings["asks"], {"line": line, "session": self.who})
        if said.get("hung_up"):
            os._exit(255)
        self.where = said.get("prompt") or self.where
        text = said.get("stdout", "") + said.get("stderr", "") + said.get("error", "")
        if text:
            self.page(text if text.endswith("\n") else text + "\n")

    def leave(self) -> None:
        """The login is over; where it was in the configuration, nobody is any more."""
        if "asks" in self.settings and self.where != self.first:
            asked(self.settings["asks"], {"left": True, "session": self.who})

    def known(self, line: str) -> str | None:
        """The answer as it is now: the state of the switch may have changed since the last one."""
        name = "".join(c if c.isascii() and c.isalnum() else "_" for c in line.replace("'", ""))
        try:
            return (Path(self.settings["answers"]) / name).read_text("utf-8")
        except OSError:
            return None

    def page(self, text: str) -> None:
        """All of it, or a screen, a question, and after a blank the next one."""
        lines = text.split("\n")
        while self.paging and len(lines) > LINES:
            self.say("\n".join(lines[:LINES]) + "\n")
            self.echo(b" --More-- ")
            key = self.typed()  # whoever types now has answered the pager
            self.note(f"KEY {key!r}")
            self.echo(b"\r          \r")
            if key != b" ":
                return
            lines = lines[LINES:]
        self.say("\n".join(lines))

    def make_trouble(self) -> bool:
        """Hang, flood or die."""
        self._flush()
        if self.trouble == "hangs":
            time.sleep(600)
        if self.trouble == "floods":
            while True:
                os.write(1, b"x" * 65536)
        self.say('{"interfaces": {"Ethernet1/1": {"mtu"')  # dies
        return False


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text("utf-8")))
