"""Names that somebody mistyped."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence with the names that look like it, or nothing."""
    found = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"Did you mean {', '.join(found)}?" if found else ""
