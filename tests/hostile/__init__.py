"""Hosts that mean harm: one function each, with the status that the documentation promises.

`reached` where every frame came and was counted, whatever is in its fields (frames.py, stream.py:
a field of another type is left out); `incomplete` where the count of `.end` does not fit or never
came (SECURITY.md: "stop half way"); `flooding` beyond the bounds of bytes and frames; `damaged`
where one is taken apart no further. What was asked and not answered is `missing`.
"""

from tests.hostile import endings, fields, floods, frames, honest, rows, texts, values

__all__ = ["endings", "fields", "floods", "frames", "honest", "rows", "texts", "values"]
