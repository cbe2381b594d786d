"""`railwright facts`."""


def facts() -> None:
    """Overview."""
