"""What ended a verb, in words: what happened, why it matters, what to do. Never a traceback."""

import errno
import tempfile
import traceback

from railwright.errors import RailwrightError

# What a disk or its owner says, and no fault of ours.
_PLAIN = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO),
    *(errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EISDIR),
)


def in_words(error: BaseException) -> list[str]:
    """The lines for standard error."""
    if isinstance(error, RailwrightError):
        return error.lines()
    first = (str(error).splitlines() or [""])[0]
    if _is_of_duckdb(error):
        what = "the tables of the snapshot could not be asked"
        do = "railwright store verify tells whether its files are those that were written."
        return [f"{what}: {first}", _details(error), do]
    if isinstance(error, OSError) and error.errno in _PLAIN:
        return [f"{error.filename or 'the system says'}: {error.strerror}"]
    if isinstance(error, (OSError, MemoryError)):
        return [f"{type(error).__name__}: {error}", _details(error)]
    what = f"a fault of this tool: {type(error).__name__}: {first}"
    return [what, _details(error), "Please report it with that file; look through it first."]


def _is_of_duckdb(error: BaseException) -> bool:
    """Told by name: DuckDB takes longer to import than this to decide."""
    return any(kind.__module__.partition(".")[0] == "duckdb" for kind in type(error).__mro__) or (
        any(kind.__module__.startswith("_duckdb") for kind in type(error).__mro__)
    )


def _details(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="railwright-fault-", suffix=".txt", delete=False, encoding="utf-8",
            errors="backslashreplace",
        ) as file:  # fmt: skip
            file.write(text)
    except OSError as reason:  # a full disk, or a process that may not write any more
        return f"Where it happened could not be kept: {reason.strerror}."
    return f"Where it happened is in {file.name}."
