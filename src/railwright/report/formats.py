"""What `check --format` knows beside text."""

from collections.abc import Callable, Iterator

from railwright.check.findings import Findings
from railwright.report.findings_formats import as_json, as_junit, as_nodeset, as_sarif
from railwright.report.ticket import as_markdown

FORMATS: dict[str, Callable[[Findings, str, int], Iterator[str]]] = {
    "json": as_json,
    "junit": as_junit,
    "sarif": as_sarif,
    "markdown": as_markdown,
    "nodeset": as_nodeset,
}
