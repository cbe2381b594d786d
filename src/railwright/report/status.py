"""The exit status of every verb that judges, in whatever format it prints."""


def exit_status(*, found: bool, unknown: bool) -> int:
    """1: something is wrong; 3: something that matters is not known; 0: neither."""
    return 1 if found else 3 if unknown else 0
