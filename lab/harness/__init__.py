"""What tests and benches both need: fleets, read, damaged and judged, and what must come of it.

Unlike the rest of `lab` it knows Railwright: it asks the parsers, the rules and the verbs. Tests
and benches import it, and never each other.
"""
