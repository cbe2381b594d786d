"""What launchers put before each line of a program that runs on many hosts, taken off again.

mpirun --tag-output:  [1,0]<stdout>:text        srun --label:  0: text

text_of does the first where all lines are of one process. In a measurement one process prints the
table and any other may print a warning: here the tags of all go.
"""

import re

from railwright.parse.base import text_of

_TAG = re.compile(r"^\[[0-9]{1,6},[0-9]{1,6}\]<std(?:out|err|diag)>:", re.MULTILINE)
_LABEL = re.compile(r"^ {0,5}[0-9]{1,6}: ?", re.MULTILINE)
_ENOUGH = 0.5  # of the lines carry a label; a line or two may look like one by chance


def plain_text(data: bytes) -> str:
    """The output as text without a launcher's prefixes."""
    text = text_of(data)
    if "]<std" in text:
        text = _TAG.sub("", text)
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and sum(1 for line in lines if _LABEL.match(line)) > _ENOUGH * len(lines):
        text = _LABEL.sub("", text)
    return text


def whole_lines(text: str) -> list[str]:
    """The lines, without a last one that may have been cut: 392.04 reads as 39."""
    return text.split("\n")[:-1]
