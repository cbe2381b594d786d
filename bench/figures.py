"""docs/figures.md: every figure there was written by the run that measured it."""

import platform
import re
import time
from datetime import datetime, timezone
from pathlib import Path

FILE = Path(__file__).parents[1] / "docs/figures.md"
HEAD = """# Figures

Each section is written by the run that measured it (`just bench`), never by hand. Absolute times
are those of a 2-core virtual machine that also plays all the hosts; ratios are within one run. The
machine's speed changes by the hour: each section says how long a fixed loop took beside it.
"""


def speed() -> str:
    """CPU seconds of ten million additions in Python: half a second when nobody is beside."""
    began, total = time.process_time(), 0
    for number in range(10_000_000):
        total += number
    return f"10 million additions: {time.process_time() - began:.2f} s"


def write_section(title: str, how: str, rows: list[tuple[str, str, str]]) -> None:
    """Replace one section: (what, measured, wanted) rows and how it was measured."""
    text = FILE.read_text("utf-8") if FILE.exists() else HEAD
    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    table = "\n".join(f"| {what} | {measured} | {wanted} |" for what, measured, wanted in rows)
    section = (
        f"## {title}\n\n{how} Python {platform.python_version()}, "
        f"Linux {platform.release()}, {when}; {speed()}."
        f"\n\n| what | measured | wanted |\n|---|---|---|\n{table}\n"
    )
    pattern = re.compile(rf"## {re.escape(title)}\n.*?(?=\n## |\Z)", re.DOTALL)
    if pattern.search(text):
        text = pattern.sub(lambda _match: section, text)
    else:
        text = text.rstrip() + "\n\n" + section
    FILE.write_text(text, "utf-8")
