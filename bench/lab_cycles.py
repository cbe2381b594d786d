"""A lab up and down again and again: nothing may be left, and it may not take longer and longer.

python -m bench.lab_cycles [CYCLES [HOSTS]]     20 and 64 by default, as root
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import write_section
from lab.live import client
from lab.live.options import Options
from lab.live.place import Place
from lab.live.traces import traces

WANTED = (20, 64)
UP_S = 60.0  # for so many hosts, on 2 cores


def main() -> None:
    given = tuple(int(word) for word in sys.argv[1:])
    cycles, hosts = (*given, *WANTED[len(given) :])
    ups, downs, left = [], [], []
    with tempfile.TemporaryDirectory(prefix="railwright-lab-") as name:
        place = Place(Path(name) / "live")
        for cycle in range(cycles):
            began = time.monotonic()
            keeper = client.start(place, Options(hosts=hosts), lambda _: None)
            ups.append(time.monotonic() - began)
            hub = client.ask(place, {"do": "status"})["hub"]
            seen = traces(place, hub.removesuffix("hub"))
            began = time.monotonic()
            client.end(place)
            keeper.wait()
            downs.append(time.monotonic() - began)
            left += seen.left()
            print(
                f"{cycle + 1}: up {ups[-1]:.1f} s, down {downs[-1]:.1f} s, left {left}", flush=True
            )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = [
        (
            f"up, {hosts} hosts of all models",
            f"{min(ups):.1f} to {max(ups):.1f} s",
            f"{UP_S:.0f} s",
        ),
        ("down", f"{min(downs):.1f} to {max(downs):.1f} s", "-"),
        (
            "CPU of the keeper, per host and cycle; what hosts do themselves is not in it",
            f"{(used.ru_utime + used.ru_stime) / cycles / hosts:.2f} s",
            "-",
        ),
        ("processes, namespaces, mounts, files left", f"{len(left)}", "0"),
    ]
    for row in rows:
        print("  ".join(row))
    if (cycles, hosts) == WANTED:
        write_section("Lab", f"`python -m bench.lab_cycles`: {cycles} times up and down.", rows)
    late = hosts <= WANTED[1] and max(ups) > UP_S
    sys.exit(1 if left or late else 0)


if __name__ == "__main__":
    main()
