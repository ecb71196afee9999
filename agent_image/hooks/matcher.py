"""Tell whether a hook stands at a tool: by a regular expression over the whole name, case-sensitive."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Final

from agent_image.hooks.hook import Hook

EVERY: Final = "*"
"""Matches every tool. It is no regular expression, and the one exception."""
MATCHER_LIMIT: Final = 1_000
"""Characters of a matcher."""


def matches(hook: Hook, tool: str) -> bool:
    """Tell whether a hook fires for a tool; one without a matcher fires for none."""
    if hook.matcher is None:
        return False
    # `$` would let a name pass that a line break follows; the whole name is compared.
    return hook.matcher == EVERY or _compiled(hook.matcher).fullmatch(tool) is not None


def is_matcher(text: str) -> bool:
    """Tell whether a text can match a name: `*`, or a regular expression that compiles."""
    if len(text) > MATCHER_LIMIT or not text.strip():
        return False
    try:
        return text == EVERY or bool(_compiled(text))
    except (re.error, OverflowError, RecursionError):
        return False


@lru_cache(maxsize=1_024)
def _compiled(matcher: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        # It warns of what a later Python may read otherwise, such as `[[a]`: no fault of whoever wrote it.
        warnings.simplefilter("ignore")
        return re.compile(matcher)
