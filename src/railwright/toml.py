"""TOML for what people write by hand; the errors say which file and where."""

import sys

from railwright.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # the same code, before it entered the standard library


def load_toml(text: str, name: str) -> dict[str, object]:
    """Parse a TOML text; a mistake in it is an error of the person who wrote it."""
    try:
        data: dict[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{name} is not valid TOML: {error}", do="Correct the line it names."
        ) from error
    return data
