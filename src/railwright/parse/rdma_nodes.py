"""Character devices of RDMA: which of them the kernel has made for which device.

Files:  /sys/class/infiniband_verbs/*/ibdev, /sys/class/infiniband_mad/*/{ibdev,port}
"""

import re
from collections.abc import Iterator

from railwright.parse.base import Row, Value, whole_number
from railwright.parse.files import Files

CLASSES = {"uverbs": "/sys/class/infiniband_verbs", "umad": "/sys/class/infiniband_mad"}

# The second class also has issm0, for subnet managers, and both a file abi_version.
_NAME = {kind: re.compile(rf"{kind}[0-9]{{1,9}}", re.ASCII) for kind in CLASSES}


def rdma_nodes(files: Files) -> Iterator[Row]:
    """Table rdma_node."""
    for kind, folder in CLASSES.items():
        for name in files.below(folder):
            if _NAME[kind].fullmatch(name):
                path = f"{folder}/{name}"
                values: dict[str, Value] = {
                    "name": name,
                    "kind": kind,
                    "device": files.text(f"{path}/ibdev") or None,
                    "port": 0 if kind == "uverbs" else whole_number(files.text(f"{path}/port")),
                }
                yield Row("rdma_node", values)
