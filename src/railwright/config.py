"""Options of the tool itself: where it keeps what it has read."""

import os
from pathlib import Path


def store_folder(given: Path | None = None) -> Path:
    """`--store`, else RAILWRIGHT_STORE, else the user's state directory."""
    if given is not None:
        return given
    if named := os.environ.get("RAILWRIGHT_STORE"):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(state) / "railwright"
