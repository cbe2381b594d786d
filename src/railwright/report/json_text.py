"""What a verb prints with --json: one object that begins with its format and the exit status."""

import json

from railwright import __version__


def json_text(verb: str, status: int, **fields: object) -> str:
    """The object of `railwright VERB --json`; docs/json.md lists the formats and their schemas."""
    head = {
        "format": f"railwright-{verb.replace(' ', '-')}-1",
        "railwright": __version__,
        "exit_status": status,
    }
    return json.dumps({**head, **fields}, indent=1)
