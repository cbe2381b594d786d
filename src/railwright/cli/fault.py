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

_REPORT = "Please report it and attach that file; check it for private data first."


def in_words(error: BaseException) -> list[str]:
    """The lines for standard error."""
    if isinstance(error, RailwrightError):
        return error.lines()
    first = (str(error).splitlines() or [""])[0]
    if _is_of_duckdb(error):
        what = "cannot query the tables of the snapshot"
        if type(error).__name__ == "OutOfMemoryException":  # a limit of ours, and no damage
            return [f"{what}: {first}", _details(error), _REPORT]
        do = "Run railwright store verify to check its files for damage."
        return [f"{what}: {first}", _details(error), do]
    if isinstance(error, OSError) and error.errno in _PLAIN:
        return [f"{error.filename or 'the system says'}: {error.strerror}"]
    if isinstance(error, (OSError, MemoryError)):
        return [f"{type(error).__name__}: {error}", _details(error)]
    what = f"internal error: {type(error).__name__}: {first}"
    return [what, _details(error), _REPORT]


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
        return f"The traceback could not be saved: {reason.strerror}."
    return f"The traceback is in {file.name}."
