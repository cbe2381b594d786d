"""TOML for what people write by hand; the errors say which file and where."""

import json
import re
import sys

from railwright.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # the same code, before it entered the standard library


# JSON leaves DEL as it is and writes signs beyond 16 bits as two halves: TOML has neither.
_NOT_IN_TOML = re.compile("[\x7f\ud800-\udfff]")


def toml_text(value: object) -> str:
    """A text, a number, or a list of them as TOML writes it; nothing in it ends the line."""
    written = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_TOML.sub(lambda m: "\\u007f" if m[0] == "\x7f" else "\ufffd", written)


def load_toml(text: str, name: str) -> dict[str, object]:
    """Parse a TOML text; a mistake in it is an error of the person who wrote it."""
    try:
        data: dict[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not valid TOML: {error}", do="Correct that line.") from error
    return data
