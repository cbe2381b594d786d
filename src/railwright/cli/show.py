"""`railwright show`."""


def show() -> None:
    """One host."""
