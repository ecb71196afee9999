"""Hold samples of what spans and event lines carry beside texts: a mask that matches one would hide the trail.

An event line holds the hashes of its line in the audit, which join the two whatever is masked beside them.

Ids are drawn from a digest, so that the samples look like real ones and are the same in every run.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

_SAMPLED_IDS: Final = 1_000
_FIRST_NANOSECOND: Final = 1_793_923_200_000_000_000
_STEP: Final = 86_400_000_000_017
_HASH: Final = sha256(b"an event").hexdigest()


def _ids(name: str, length: int) -> tuple[tuple[str, str], ...]:
    return tuple((name, sha256(f"{name}{n}".encode()).hexdigest()[:length]) for n in range(_SAMPLED_IDS))


ENVELOPE: Final[tuple[tuple[str, str], ...]] = (
    ("a timestamp in nanoseconds", '"startTimeUnixNano":1793923200000000000,"endTimeUnixNano":1793923201482113907'),
    *(("a timestamp in nanoseconds", str(_FIRST_NANOSECOND + n * _STEP)) for n in range(_SAMPLED_IDS)),
    ("a duration", '"durationNano":1482113907'),
    ("the account id in an ARN", "arn:aws:bedrock-agentcore:us-east-1:111122223333:runtime/handbook_dev-a1B2c3D4e5"),
    ("the account id in an ARN", "arn:aws:bedrock:eu-central-1:444455556666:knowledge-base/KB01234567"),
    ("the account id in an ARN", "arn:aws:iam::123456789012:role/rastro-prod-agent"),
    ("a log group", "/aws/bedrock-agentcore/runtimes/handbook_dev-a1B2c3D4e5-live"),
    ("a session id", '"session.id":"7f9c2ba4-e88f-4b1c-9d55-0d3a51a6e2b7"'),
    ("a score", '"score":0.8731'),
    ("a span name", '"name":"chat us.anthropic.claude-haiku-4-5-20251001-v1:0"'),
    ("a time of day", "2026-11-30T00:46:32.123456Z"),
    *_ids("a trace id", 32),
    *_ids("a span id", 16),
    *_ids("the hash of an event", 64),
    (
        "an event line",
        f'"step":12,"waited_ms":86400000,"cost_usd":0.0000003,"code":"{_HASH}","prev":"","hash":"{_HASH}"',
    ),
    ("the digest of a text", '"args":{"bytes":2048,"digest":"h5rFVs1eybW2yrFN"}'),
)
