"""Circles of buffers that wait for one another: strongly connected links of a fabric.

A link (a, b) waits for (b, c) if a sends packets to b that b sends on to c: if both have a route
for the same prefix, a through b and b through c. Prefixes are bits of a number, so that one look
tells whether two sets meet. There are far more waits than links (each uplink of a
leaf waits for every downlink of its spine), so they are never written down: a search asks for a
link that it has not seen yet, and every link is seen once.
"""

from collections import deque
from collections.abc import Iterator

Link = tuple[str, str]
Sent = dict[str, dict[str, int]]  # switch -> neighbor -> prefixes that it sends there


def reversed_of(sent: Sent) -> Sent:
    """Who sends to a switch."""
    found: Sent = {}
    for source, towards in sent.items():
        for target, prefixes in towards.items():
            found.setdefault(target, {})[source] = prefixes
    return found


def _in_order(sent: Sent) -> Iterator[Link]:
    """All links, each after those that it waits for (unless they wait for it too)."""
    unseen = {switch: dict.fromkeys(towards) for switch, towards in sent.items()}
    for source, towards in sent.items():
        for target in towards:
            if target not in unseen[source]:
                continue
            del unseen[source][target]
            stack = [(source, target)]
            while stack:
                a, b = stack[-1]
                prefixes, waiting = sent[a][b], unseen.get(b, {})
                following = next((c for c in waiting if sent[b][c] & prefixes), None)
                if following is None:
                    yield stack.pop()
                else:
                    del waiting[following]
                    stack.append((b, following))


def circles(sent: Sent) -> list[set[Link]]:
    """Links that wait for themselves in the end, those of one circle together (Kosaraju)."""
    received = reversed_of(sent)
    unseen = {switch: dict.fromkeys(sources) for switch, sources in received.items()}
    found = []
    for a, b in reversed(list(_in_order(sent))):
        if a not in unseen[b]:
            continue
        del unseen[b][a]
        stack, members = [(a, b)], {(a, b)}
        while stack:
            source, target = stack.pop()
            prefixes, waiting = sent[source][target], unseen.get(source, {})
            for before in [one for one in waiting if received[source][one] & prefixes]:
                del waiting[before]
                members.add((before, source))
                stack.append((before, source))
        if len(members) > 1:
            found.append(members)
    return found


def way_round(sent: Sent, members: set[Link], start: Link, end: Link) -> list[str]:
    """The switches of a shortest way from one link of a circle to another one of it."""
    came_from: dict[Link, Link | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here == end:
            break
        a, b = here
        for c, prefixes in sent.get(b, {}).items():
            step = (b, c)
            if step in members and step not in came_from and prefixes & sent[a][b]:
                came_from[step] = here
                waiting.append(step)
    found: list[str] = []
    step_back: Link | None = end
    while step_back is not None:
        found.append(step_back[1])
        step_back = came_from.get(step_back)
    return [start[0], *reversed(found)]
