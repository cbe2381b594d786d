"""The page as one file: a part that needs no script, the data, and the program that shows it."""

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

from railwright.report.page.collect import Page
from railwright.report.page.encode import as_json, block
from railwright.report.page.static import escaped, static

_HERE = Path(__file__).parent
APP, STYLE = _HERE / "app.js", _HERE / "app.css"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, nothing but our own script runs, no text becomes markup."""
    parts = [
        "default-src 'none'",
        f"style-src {_hash(style)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if script:
        parts += [f"script-src {_hash(script)}", "require-trusted-types-for 'script'"]
        parts += ["trusted-types 'none'"]
    return "; ".join(parts)


def html(page: Page, *, with_script: bool = True) -> Iterator[str]:
    """The file, part by part."""
    script = APP.read_text(encoding="utf-8") if with_script else ""
    style = STYLE.read_text(encoding="utf-8")
    policy = _policy(style, script)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield f"<title>{escaped(page.core['title'])} - Railwright report</title>\n"
    yield f'<style>{style}</style>\n</head>\n<body>\n<div id="app">\n'
    yield from static(page.core)
    yield "</div>\n"
    if with_script:
        for name, data in {"core": as_json(page.core), **page.blocks}.items():
            yield f'<script type="application/octet-stream" id="d:{escaped(name)}">{block(data)}'
            yield "</script>\n"
        yield f"<script>{script}</script>\n"
    yield "</body>\n</html>\n"
