"""The exit status of every verb, in whatever format it prints: nobody else chooses 0, 1 or 3."""

from railwright.store.snapshot import Snapshot


def exit_status(
    *, found: bool = False, unknown: bool = False, snapshot: Snapshot | None = None
) -> int:
    """1: something is wrong or has changed; 3: something that matters is unknown; 0: neither.

    Where the newest run reached no machine, an older snapshot serves: how it is now is unknown.
    """
    outdated = snapshot is not None and bool(snapshot.passed_over)
    return 1 if found else 3 if unknown or outdated else 0
