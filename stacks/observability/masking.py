"""Build the data-protection document: what CloudWatch Logs finds in events and masks when they are read.

Pure data. Masking acts when data leaves the group, on events ingested after the policy: who may read the original is a
matter of `logs:Unmask`, which only the break-glass policy grants.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import re2

from stacks.observability.envelope import ENVELOPE

PATTERN_LIMIT: Final = 200
PATTERNS_LIMIT: Final = 10
# RE2 takes time in proportion to the text: with Python's own engine a pattern of a few stars takes hours.
_QUIET: Final = re2.Options()
_QUIET.log_errors = False
_PATTERN_CHARACTERS: Final = re.compile(r"[a-zA-Z0-9 _#=@/;,^$?\[\]{}|\\*+.-]*")


def custom_pattern_problem(regex: str) -> tuple[str, str] | None:
    """Say what keeps a custom pattern from being used, and what is allowed: AWS's rules, and the trail's own envelope.

    A pattern that matches a timestamp, an id or an ARN would mask the trail itself.
    """
    if not 1 <= len(regex) <= PATTERN_LIMIT:
        return f"has {len(regex)} characters", f"allowed: 1 to {PATTERN_LIMIT} characters"
    if refused := sorted(set(re.sub(_PATTERN_CHARACTERS, "", regex))):
        allowed = "allowed: letters, digits, space, _#=@/;,- and ^$?[]{}|\\*+."
        return f"holds {' '.join(refused)}, which CloudWatch Logs does not take in a pattern", allowed
    try:
        compiled = re2.compile(regex, _QUIET)
    except re2.error as error:
        return f"is not a regular expression ({error.args[0].decode()})", "mend it"
    if hit := next((name for name, text in ENVELOPE if compiled.search(text)), None):
        return f"would mask the trail itself: it matches {hit}", "make it narrower"
    return None


def rendered(built: Mapping[str, Any]) -> str:
    """Render a document as compact JSON, the form whose length AWS counts."""
    return json.dumps(built, separators=(",", ":"))


def document(
    *, name: str, partition: str, identifiers: Sequence[str], patterns: Mapping[str, str]
) -> dict[str, Any] | None:
    """Build a document that audits and masks the same identifiers, or None where there is nothing to mask.

    AWS refuses a document whose two statements list different identifiers.
    """
    cited = [
        *(f"arn:{partition}:dataprotection::aws:data-identifier/{identifier}" for identifier in identifiers),
        *patterns,
    ]
    if not cited:
        return None
    built: dict[str, Any] = {
        "Name": name,
        "Version": "2021-06-01",
        "Statement": [
            {"Sid": "audit", "DataIdentifier": cited, "Operation": {"Audit": {"FindingsDestination": {}}}},
            {"Sid": "mask", "DataIdentifier": cited, "Operation": {"Deidentify": {"MaskConfig": {}}}},
        ],
    }
    if patterns:
        custom = [{"Name": key, "Regex": regex} for key, regex in patterns.items()]
        built["Configuration"] = {"CustomDataIdentifier": custom}
    return built
