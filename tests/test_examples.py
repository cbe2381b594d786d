"""docs/examples: every command is run on the hosts of the example, and answers as the page shows."""

import re

import pytest

from lab.guide import commands
from tools import make_examples

# What the report on those two nodes lists for every card.
REPORTED = {
    "NUM_OF_VFS": "1",
    "NUM_PF_MSIX": "63",
    "NUM_VF_MSIX": "11",
    "VF_LOG_BAR_SIZE": "1",
    "PF_LOG_BAR_SIZE": "5",
    "MAX_ACC_OUT_READ": "128",
    "CQE_COMPRESSION": "BALANCED(0)",
    "ROCE_ADAPTIVE_ROUTING_EN": "False(0)",
    "LOG_MAX_OUTSTANDING_WQE": "7",
}


@pytest.mark.root
def test_the_page_is_what_the_commands_print() -> None:
    found = make_examples.differences()
    assert found == [], "run: python -m tools.make_examples\n" + "\n".join(found)


def test_the_page_has_the_values_of_the_report_and_what_is_wrong_with_it() -> None:
    page = make_examples.PAGE.read_text("utf-8")
    assert len(commands(page)) == 8
    for name, value in REPORTED.items():
        assert re.search(rf"^{name} +{re.escape(value)} .* 8$", page, re.MULTILINE), name
    assert "CQE_COMPRESSION cannot be 2" in page
    assert "intent-parameter-name" in page
    # Four 400G cards: 392.06 Gb/s each (predict.md, section 1), which no ring goes above.
    assert re.search(r"^ +1,568\.2 +4 ports of 4 NICs", page, re.MULTILINE)
    assert re.search(r"^all_reduce +ring +2 +8 GiB .* 196\.1 +network", page, re.MULTILINE)
