"""Options of the tool itself: where it keeps what it has read, and where its site is described."""

import os
from pathlib import Path


def store_folder(given: Path | None = None) -> Path:
    """`--store`, else RAILWRIGHT_STORE, else the user's state directory.

    Always absolute: rules run in a process whose working directory is another.
    """
    if given is not None:
        return given.absolute()
    if named := os.environ.get("RAILWRIGHT_STORE"):
        return Path(named).absolute()
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(state).absolute() / "railwright"


def cache_folder() -> Path:
    """What can be made again: $XDG_CACHE_HOME/railwright."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home).absolute() / "railwright"


def site_file(given: Path | None, store: Path) -> Path | None:
    """`--site`, else RAILWRIGHT_SITE, else site.toml of the store or of the user, if any."""
    usual = _usual("site.toml", store)
    return _named(given, "RAILWRIGHT_SITE") or (usual if usual.is_file() else None)


def waiver_file(given: Path | None, store: Path) -> Path:
    """`--waivers`, else RAILWRIGHT_WAIVERS, else waivers.toml of the store or of the user."""
    return _named(given, "RAILWRIGHT_WAIVERS") or _usual("waivers.toml", store)


def _named(given: Path | None, variable: str) -> Path | None:
    named = os.environ.get(variable)
    return given or (Path(named) if named else None)


def _usual(name: str, store: Path) -> Path:
    """The store's own file first: snapshots of one fabric are judged by what that fabric is.

    Where there is none yet, a new one belongs to this store too, and not to every other.
    """
    beside, everywhere = store / name, _configuration() / name
    return beside if beside.is_file() or not everywhere.is_file() else everywhere


def _configuration() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "railwright"
