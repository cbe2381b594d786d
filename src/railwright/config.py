"""Options of the tool itself: where it keeps what it has read, and where its site is described."""

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


def site_file(given: Path | None = None) -> Path | None:
    """`--site`, else RAILWRIGHT_SITE, else the user's own site.toml, if it is there."""
    if given is not None:
        return given
    if named := os.environ.get("RAILWRIGHT_SITE"):
        return Path(named)
    usual = _configuration() / "site.toml"
    return usual if usual.is_file() else None


def waiver_file(given: Path | None = None) -> Path:
    """`--waivers`, else RAILWRIGHT_WAIVERS, else waivers.toml in the user's configuration."""
    if given is not None:
        return given
    if named := os.environ.get("RAILWRIGHT_WAIVERS"):
        return Path(named)
    return _configuration() / "waivers.toml"


def _configuration() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "railwright"
