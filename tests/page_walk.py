"""Runs the scripts of web/ that open a report in a real browser."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

WEB = Path(__file__).parents[1] / "web"
BROWSERS = {"chromium": "/usr/bin/chromium", "firefox": "/usr/bin/firefox-esr"}
SECONDS = 280


def needs(*browsers: str) -> None:
    """Skips where they are not installed; in CI that fails."""
    for name in browsers:
        if not Path(BROWSERS[name]).exists():
            pytest.skip(f"needs {name}")
    if not shutil.which("node") or not (WEB / "node_modules").is_dir():
        pytest.skip("needs node, and npm ci in web/")


def _ran(*words: str) -> dict[str, Any]:
    done = subprocess.run(
        ["node", *words], cwd=WEB, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def walk(
    browser: str, file: Path, how: str = "quick", *, pictures: str = "-", also: Iterable[str] = ()
) -> dict[str, Any]:
    """Every view, and those that are named, and what went wrong there."""
    needs(browser)
    return _ran("walk.mjs", browser, str(file), how, pictures, *also)


def states(file: Path) -> dict[str, Any]:
    """Without scripts, without DecompressionStream, printed."""
    needs("chromium")
    return _ran("states.mjs", str(file))


def is_clean(told: dict[str, Any]) -> dict[str, Any]:
    """What there is that should not be; nothing else."""
    names = ("console", "requests", "errors", "axe", "wide", "elements")
    return {name: told[name] for name in names if told[name]}


def pictures(file: Path, folder: Path, how: str) -> dict[str, float]:
    """Written, or the share of pixels that are others than in the folder."""
    needs("chromium")
    return _ran("pictures.mjs", str(file), str(folder), how)
