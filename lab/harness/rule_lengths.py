"""How long the SELECTs of the rules are: one that is long is hard to trust."""

from railwright.check.rule import shipped

MOST_OF_MEDIAN = 40  # lines: what can be read at once, on one screen


def lengths() -> dict[str, int]:
    """Lines of each rule's SELECT, comments in it counted, the longest first."""
    found = {name: len(rule.sql.strip().splitlines()) for name, rule in shipped().items()}
    return dict(sorted(found.items(), key=lambda one: -one[1]))
