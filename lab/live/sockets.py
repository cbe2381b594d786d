"""Sockets with a path: the keeper's own, and one on every host."""

import os
import socket
from pathlib import Path


def listen(listener: socket.socket, path: Path, waiting: int = 8) -> None:
    """Listen there; through the open folder, because a socket's path may not be long."""
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        listener.bind(f"/proc/self/fd/{handle}/{path.name}")
    finally:
        os.close(handle)
    listener.listen(waiting)
