"""What a benchmark printed: logs of perftest, nccl-tests and NCCL, which no probe runs.

A job's log may hold anything beside it, so only the lines of these programs are kept.
"""

import re

_NUMBERS = r"\s*[0-9][0-9.]*(?:\s+(?:[0-9][0-9.]*|N/A|inf|nan))*\s*"
# A launcher may put its mark before a line: mpirun --tag-output, srun --label.
_LAUNCHER = r"(?:\[[0-9]{1,6},[0-9]{1,6}\]<std(?:out|err|diag)>:| {0,5}[0-9]{1,6}: ?)?"
_NCCL = r"[^\n]*NCCL (?:INFO|WARN) [^\n]*"
_FAILED = (
    r"[^\n]*\b(?:[Ee]rror|ERROR|[Ff]ailed|[Cc]ouldn't|[Cc]ould not|Unable to|Cannot|not found"
    r"|state is|Unexpected CM event)\b[^\n]*"
)
_PARAMETER = (
    r"\s*(?:Dual-port|Device|Number of qps|Transport type|Connection type|Using SRQ"
    r"|PCIe relax order|TX depth|RX depth|Post List|CQ Moderation|Mtu|Link type|GID index"
    r"|Max inline data|Outstand reads|rdma_cm QPs|TOS|ibv_wr\* API|CQE Poll Batch"
    r"|Data ex\. method|Lock-free)[ \t]{0,20}: [^\n]*"
)
KINDS: dict[str, tuple[str, ...]] = {
    "perftest": (
        r"\s*-{20,}\s*",
        r"\s*[A-Z][A-Za-z_]{2,20} (?:[A-Za-z_]{1,20} ){0,6}Test\s*",
        _PARAMETER,
        r"\s*(?:local|remote) address: [^\n]*",
        r"\s*GID: [0-9:]+\s*",
        r"\s*#bytes[^\n]*",
        _NUMBERS,
        r"\s*(?:WARNING|Warning|BW peak won't|Conflicting CPU|Requested mtu)[^\n]*",
        r"[^\n]*(?:device name = \[|using DMA-BUF for GPU buffer|Waiting for client to)[^\n]*",
        _FAILED,
    ),
    "nccl_tests": (
        r"#[^\n]*",
        r"\s*[0-9]{1,19}\s+[0-9]{1,19}\s+[a-z][a-z0-9_]*\s[^\n]*",
        r"[^\n]*Test (?:[A-Z]{2,8} )?failure [^\n]*",
        r"[^\n]*NCCL version [^\n]*",
        r"\s*\.\.\.\s*",
        _NCCL,
    ),
    "nccl_log": (_NCCL,),
}


def keep(kind: str, data: bytes) -> tuple[bytes, int]:
    """The lines of this program, and how many others were dropped."""
    pattern = re.compile(f"{_LAUNCHER}(?:{'|'.join(KINDS[kind])})")
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    kept = [line for line in lines if not line.strip() or pattern.fullmatch(line.rstrip("\r\n"))]
    return "".join(kept).encode(), len(lines) - len(kept)
