"""Options of the tool itself: where it keeps what it has read, and where its site is described."""

import os
import re
from pathlib import Path

DEMO_MARK = ".railwright-demo"  # lies in the store of `railwright demo`, and says which it is
_SNAPSHOT = re.compile(r"\d{4}-\d\d-\d\dT\d{4}Z")  # the beginning of its name; unfinished ones too


def own_store(given: Path | None = None) -> Path:
    """`--store`, else RAILWRIGHT_STORE, else the user's state directory: where snapshots go.

    Always absolute: rules run in a process whose working directory is another.
    """
    if given is not None:
        return given.absolute()
    if named := os.environ.get("RAILWRIGHT_STORE"):
        return Path(named).absolute()
    return _state() / "railwright"


def store_folder(given: Path | None = None) -> Path:
    """Where snapshots are looked for: as `own_store`, but while the user has none and names no
    store, the one that `railwright demo` has left."""
    own = own_store(given)
    is_named = given is not None or bool(os.environ.get("RAILWRIGHT_STORE"))
    if is_named or not (demo_store() / DEMO_MARK).is_file() or _has_snapshot(own):
        return own
    return demo_store()


def demo_store() -> Path:
    """Where `railwright demo` leaves its store."""
    return _state() / "railwright-demo"


def stands_in(store: Path) -> bool:
    """Whether this is the demo's store, taken because the user has no snapshot."""
    return store == demo_store() and not os.environ.get("RAILWRIGHT_STORE")


def _state() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state").absolute()


def _has_snapshot(store: Path) -> bool:
    try:
        return any(_SNAPSHOT.match(path.name) for path in store.iterdir())
    except FileNotFoundError:
        return False
    except OSError:
        return True  # whoever opens it says what is wrong with it


def cache_folder() -> Path:
    """What can be made again: $XDG_CACHE_HOME/railwright."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home).absolute() / "railwright"


def site_file(given: Path | None, store: Path) -> Path | None:
    """`--site`, else RAILWRIGHT_SITE, else site.toml of the store or of the user, if any."""
    usual = _usual("site.toml", store)
    return _named(given, "RAILWRIGHT_SITE", store) or (usual if usual.is_file() else None)


def waiver_file(given: Path | None, store: Path) -> Path:
    """`--waivers`, else RAILWRIGHT_WAIVERS, else waivers.toml of the store or of the user."""
    return _named(given, "RAILWRIGHT_WAIVERS", store) or _usual("waivers.toml", store)


def _named(given: Path | None, variable: str, store: Path) -> Path | None:
    """The demo's fabric brings its own: what the user has set is meant for another one."""
    named = None if stands_in(store) else os.environ.get(variable)
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
