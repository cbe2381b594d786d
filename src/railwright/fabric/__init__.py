"""Paths through a fabric: what each hop does to a packet. No list of pairs of ports anywhere."""
