"""Hosts of the fleet that are broken in ways that a site really has."""

import os
from pathlib import Path

# A program in place of Python that never answers; it ends when its input does, as a reader stuck on
# the connection would.
_HANG = "#!/bin/sh\nexec cat >/dev/null\n"
_FLOOD = "#!/bin/sh\nhead -c 100000000 /dev/zero | tr '\\0' x\n"

# kind -> what is different about that host
KINDS = {
    "healthy": "",
    "refusing": "no sshd listens",
    "silent": "accepts the connection and never says a word",
    "hanging": "the interpreter never answers",
    "flooding": "sends 100 MB without a newline",
    "no python": "has no Python at all",
    "no root": "the login is an ordinary user without sudo",
}

_SILENT = """
import socket, time
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", 22))
listener.listen(16)
kept = []
while True:
    kept.append(listener.accept())
"""


def break_layer(layer: Path, shared: Path, kind: str) -> None:
    """What is different in the files of such a host, over the root file system of all."""
    if kind == "silent":
        (layer / "silent.py").write_text(_SILENT)
    if kind in ("hanging", "flooding", "no python"):
        binaries = layer / "usr/bin"
        binaries.mkdir(parents=True)
        for path in (shared / "usr/bin").glob("python3*"):
            # A character device 0/0 is how an overlay says "deleted".
            os.mknod(binaries / path.name, 0o600 | 0o020000, os.makedev(0, 0))
        if kind != "no python":
            (binaries / "python3").unlink()
            (binaries / "python3").write_text(_HANG if kind == "hanging" else _FLOOD)
            (binaries / "python3").chmod(0o755)
