"""docs/writing-rules.md: the pack that it shows is sound, and a wrong one is refused in words."""

import re
from pathlib import Path

import pytest

from railwright.check.pack import load_pack
from railwright.errors import RuleError

PAGE = (Path(__file__).parents[1] / "docs/writing-rules.md").read_text("utf-8")


def written(folder: Path) -> Path:
    """The files of the page, each under the name that stands above it."""
    found = re.findall(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(found) == 2
    for name, text in found:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder / "site"


def test_the_pack_of_the_page_is_sound(tmp_path: Path) -> None:
    (rule,) = load_pack(written(tmp_path)).values()
    assert (rule.id, rule.subject.kind, rule.optional) == (
        "storage-port-slow",
        "port",
        ("inferred",),
    )


def test_a_verdict_that_hides_what_was_not_read_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path)
    file = folder / "storage_port_slow.sql"
    text = file.read_text()
    file.write_text(text.replace("p.rate_gbps < $", "coalesce(p.rate_gbps, 400) < $"))
    with pytest.raises(RuleError, match="coalesce without `-- null: reason`"):
        load_pack(folder)


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ("ACTIVE", "without port_scope.state: a:mlx5_8/1 is still ok"),
        ("DOWN", "without port_scope.state: a:mlx5_8/1 is not applicable, should be unknown"),
    ],
)
def test_a_need_that_makes_no_difference_is_refused(
    tmp_path: Path, instead: str, said: str
) -> None:
    """No case of the page has a port whose state was not read: it is taken away from one."""
    folder = written(tmp_path)
    file = folder / "storage_port_slow.sql"
    state = f"coalesce(p.state, '{instead}') = 'ACTIVE' as applies, -- null: all is well"
    file.write_text(file.read_text().replace("p.state = 'ACTIVE' as applies,", state))
    with pytest.raises(RuleError, match=said):
        load_pack(folder)
