"""Situations from the field: evidence whose text was changed by hand, and what `check` must say of it."""

import pytest

pytest.register_assert_rewrite("situations.by_text")
