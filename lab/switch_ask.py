"""What writes on a switch: hands a command to the lab's keeper. Runs alone, without packages.

    python3 switch_ask.py FOLDER PROGRAM [ARGUMENT ...]

The keeper's socket is in the folder. Files that arguments of `config` name go along, because they
lie on the switch and the keeper does not; what it says is printed, and its exit status is ours.
"""

import base64
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

SOCKET = "keeper.sock"
_READS_FILES = "config"
_STDIN = "/dev/stdin"
_LARGEST = 64 * 1024 * 1024


def asked(folder: str, wish: dict[str, Any]) -> dict[str, Any]:
    """One question to the keeper, from inside its folder: a socket's path may not be long."""
    with socket.socket(socket.AF_UNIX) as keeper:
        handle = os.open(folder, os.O_RDONLY)
        try:
            keeper.connect(f"/proc/self/fd/{handle}/{SOCKET}")
        finally:
            os.close(handle)
        keeper.sendall(json.dumps({"do": "write", **wish}).encode() + b"\n")
        said = keeper.makefile().readline()
    found: dict[str, Any] = json.loads(said) if said else {"error": "the lab is gone"}
    return found


def files(words: list[str]) -> dict[str, str]:
    """Those that a command is given, by the name that it has there."""
    found = {}
    for word in words if words[0] == _READS_FILES else ():
        if word == _STDIN:
            data = sys.stdin.buffer.read(_LARGEST)
        elif Path(word).is_file() and Path(word).stat().st_size <= _LARGEST:
            data = Path(word).read_bytes()
        else:
            continue
        found[word] = base64.b64encode(data).decode()
    return found


def hang_up() -> None:
    """End the connection that this came over: the sshd above us, whoever is between."""
    process = os.getpid()
    while process > 1:
        status = Path(f"/proc/{process}/status").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in status if ":" in line)
        if fields["Name"].strip().startswith("sshd"):
            os.kill(process, signal.SIGKILL)
            return
        process = int(fields["PPid"])


def main() -> int:
    """What the keeper says."""
    folder, *words = sys.argv[1:]
    said = asked(folder, {"words": words, "files": files(words)})
    if said.get("hung_up"):
        hang_up()
        return 255
    sys.stdout.write(said.get("stdout", ""))
    sys.stderr.write(said.get("stderr", said.get("error", "") + "\n" if "error" in said else ""))
    return int(said.get("code", 1))


if __name__ == "__main__":
    sys.exit(main())
