"""In AWS the audit is objects, each written once, in the order of their chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from agent_image.contract import AUDIT_OBJECT_PREFIX, DECISION_OBJECT_PREFIX, EventName
from agent_image.errors import AuditError
from agent_image.guard.audit import DECISIONS, AuditText, decision_chain, write_alone
from agent_image.guard.audit_lines import read_s3
from agent_image.guard.audit_place import audit_path, outlet_at
from agent_image.guard.audit_s3 import ATTEMPTS, AuditPlace, S3Outlet, parse_audit_place
from agent_image.guard.session import Head
from agent_image.guard.signs import Sign
from agent_image.guard.verify import verify
from tests.agent_image.guard.chains import DIGEST, SESSION, chain, event

REGION = "eu-central-1"
KEY = f"{AUDIT_OBJECT_PREFIX}{SESSION}/000000000001-run-1.jsonl"


class Bucket:
    """Hold an audit's place on moto's server, and what goes wrong with the next puts."""

    def __init__(self, url: str) -> None:
        self.client = boto3.client(
            "s3",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - moto takes any
            config=Config(retries={"total_max_attempts": 1}),
        )
        self.place = AuditPlace(f"rastro-{uuid4().hex}", AUDIT_OBJECT_PREFIX)
        self.client.create_bucket(Bucket=self.place.bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.before: list[Exception] = []
        self.after: list[Exception] = []
        self.puts: list[dict[str, Any]] = []
        self.pauses: list[float] = []

    def put_object(self, **request: Any) -> Any:
        self.puts.append(request)
        if self.before:
            raise self.before.pop(0)
        answer = self.client.put_object(**request)
        if self.after:
            raise self.after.pop(0)
        return answer

    def outlet(self) -> S3Outlet:
        return S3Outlet(self.place, self, self.pauses.append)

    def objects(self) -> dict[str, bytes]:
        found = self.client.list_objects_v2(Bucket=self.place.bucket).get("Contents", [])
        return {one["Key"]: self.read(one["Key"]) for one in found}

    def read(self, key: str) -> bytes:
        data: bytes = self.client.get_object(Bucket=self.place.bucket, Key=key)["Body"].read()
        return data


@pytest.fixture
def bucket(aws_url: str) -> Bucket:
    return Bucket(aws_url)


def refused(code: str, status: int) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutObject")


def test_each_flush_is_an_object_named_after_its_first_event(bucket: Bucket) -> None:
    """Nothing is written before; what is there can be verified."""
    events = chain(bucket.outlet())
    events.append(EventName.RUN_STARTED, kind="prompt")
    events.append(EventName.TOOL_CALL, tool="refund_order")
    assert bucket.objects() == {}

    events.flush()
    events.append(EventName.RUN_ENDED, outcome="completed")
    head = events.flush()
    assert events.flush() == head

    assert [*bucket.objects()] == [KEY, f"{AUDIT_OBJECT_PREFIX}{SESSION}/000000000003-run-1.jsonl"]
    result = verify(read_s3(bucket.place, bucket.client), {SESSION: head})
    assert (result.lines, result.anchored, result.findings) == (3, 3, ())


def test_every_put_asks_that_nothing_stands_in_its_place(bucket: Bucket) -> None:
    """So the role needs no right that could write over what is there, and no right to read."""
    events = chain(bucket.outlet())
    events.append(EventName.RUN_STARTED)
    events.flush()

    assert [put["IfNoneMatch"] for put in bucket.puts] == ["*"]
    assert not hasattr(bucket, "get_object")


def test_another_s_object_is_not_written_over_nor_taken_for_ours(bucket: Bucket) -> None:
    """Whoever put it there: the run must not go on as if it had been recorded."""
    bucket.client.put_object(Bucket=bucket.place.bucket, Key=KEY, Body=b"forged")
    events = chain(bucket.outlet())
    events.append(EventName.RUN_STARTED)

    with pytest.raises(AuditError) as conflict:
        events.flush()
    assert conflict.value.code == "audit_conflict"
    assert bucket.read(KEY) == b"forged"


TIMEOUT = ReadTimeoutError(endpoint_url="https://example.invalid")


def test_an_object_that_was_stored_unsaid_is_ours(bucket: Bucket) -> None:
    """The answer was lost; the next attempt finds the very bytes in place."""
    bucket.after = [TIMEOUT]
    events = chain(bucket.outlet())
    events.append(EventName.RUN_STARTED)

    assert events.flush().seq == 1
    assert len(bucket.puts) == 2
    assert len(bucket.pauses) == 1


def test_an_object_that_was_stored_unsaid_is_ours_in_the_next_flush_too(bucket: Bucket) -> None:
    """Even if events came in between: they go into an object of their own."""
    bucket.before = [TIMEOUT] * (ATTEMPTS - 1)

    def last_attempt(_: float) -> None:
        if len(bucket.puts) == ATTEMPTS - 1:
            bucket.after = [TIMEOUT]

    bucket.pauses = _Calling(last_attempt)
    events = chain(bucket.outlet())
    events.append(EventName.RUN_STARTED)
    with pytest.raises(AuditError):
        events.flush()
    assert len(bucket.objects()) == 1
    events.append(EventName.RUN_ENDED)
    head = events.flush()

    assert verify(read_s3(bucket.place, bucket.client), {SESSION: head}).findings == ()
    assert [key.rpartition("/")[2][:12] for key in bucket.objects()] == ["000000000001", "000000000002"]


@pytest.mark.parametrize(
    "error",
    [
        refused("SlowDown", 503),
        refused("InternalError", 500),
        refused("ConditionalRequestConflict", 409),
        ConnectTimeoutError(endpoint_url="https://example.invalid"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_may_pass_is_tried_again(bucket: Bucket, error: Exception) -> None:
    """A few times, with longer and longer pauses."""
    bucket.before = [error, error]
    events = chain(bucket.outlet())
    events.append(EventName.RUN_STARTED)
    events.flush()

    assert len(bucket.objects()) == 1
    assert bucket.pauses == sorted(bucket.pauses)
    assert len(bucket.pauses) == 2


@pytest.mark.parametrize(
    ("error", "code", "puts"),
    [
        (refused("AccessDenied", 403), "audit_access_denied", 1),
        (refused("NoSuchBucket", 404), "audit_not_found", 1),
        (refused("SlowDown", 503), "audit_throttled", ATTEMPTS),
    ],
)
def test_what_does_not_pass_is_an_audit_error(bucket: Bucket, error: Exception, code: str, puts: int) -> None:
    """With a code, and nothing of what the service said."""
    bucket.before = [error] * ATTEMPTS
    events = chain(bucket.outlet())
    events.append(EventName.RUN_STARTED)

    with pytest.raises(AuditError) as told:
        events.flush()
    assert told.value.code == code
    assert len(bucket.puts) == puts


def test_what_people_decide_lies_where_they_alone_may_write(bucket: Bucket) -> None:
    """Each in an object of its own, also if two decide the same checkpoint."""
    text = AuditText(lambda value: value, DIGEST)
    sealed = [
        write_alone(bucket.outlet(), event(EventName.DECISION, chain=decision_chain("c" * 64), event_id=event_id), text)
        for event_id in ("e1", "e2")
    ]

    assert [*bucket.objects()] == [
        f"{DECISION_OBJECT_PREFIX}{'c' * 64}/000000000001-{event_id}.jsonl" for event_id in ("e1", "e2")
    ]
    result = verify(read_s3(bucket.place, bucket.client), {}, {"c" * 64: {sealed[0].hash}})
    assert [finding.sign for finding in result.findings] == [Sign.UNANCHORED]


@pytest.mark.parametrize("session", ["../../decisions/" + "x" * 40, "decisions/" + "x" * 40, "a/b c?#%é" * 5])
def test_a_session_s_objects_stay_in_its_folder(bucket: Bucket, session: str) -> None:
    """Its id is a caller's choice; the folder of decisions is nobody's session."""
    events = chain(bucket.outlet(), session_id=session)
    events.append(EventName.RUN_STARTED)
    head = events.flush()

    (key,) = bucket.objects()
    assert key.count("/") == 2
    assert not key.startswith(DECISION_OBJECT_PREFIX)
    assert verify(read_s3(bucket.place, bucket.client, (session,)), {session: head}).findings == ()


def test_one_session_can_be_read_alone(bucket: Bucket) -> None:
    """Sessions whose ids begin alike are others."""
    for session in (SESSION, f"{SESSION}0"):
        events = chain(bucket.outlet(), session_id=session)
        events.append(EventName.RUN_STARTED)
        events.flush()

    assert {line.session_id for line in read_s3(bucket.place, bucket.client, (SESSION,))} == {SESSION}
    assert len(list(read_s3(bucket.place, bucket.client))) == 2
    assert list(read_s3(bucket.place, bucket.client, (DECISIONS,))) == []


def test_objects_come_in_the_order_of_their_chain(bucket: Bucket) -> None:
    """Also after the ninth, and over several runs."""
    head = Head()
    for run in ("run-b", "run-a"):
        events = chain(bucket.outlet(), run=run, head=head)
        for _ in range(6):
            events.append(EventName.LLM_CALL)
            head = events.flush()

    lines = list(read_s3(bucket.place, bucket.client))
    assert [line.seq for line in lines] == list(range(1, 13))
    assert verify(lines, {SESSION: head}).findings == ()


def test_a_bucket_that_cannot_be_read_is_an_audit_error(bucket: Bucket) -> None:
    """With a code."""
    with pytest.raises(AuditError) as told:
        list(read_s3(AuditPlace("not-there-at-all", "audit/"), bucket.client))
    assert told.value.code == "audit_not_found"


class _Calling(list[float]):
    """Call somebody when a pause is made."""

    def __init__(self, call: Callable[[float], object]) -> None:
        super().__init__()
        self._call = call

    def append(self, pause: float) -> None:
        super().append(pause)
        self._call(pause)


# --- places -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("s3://bucket", AuditPlace("bucket", AUDIT_OBJECT_PREFIX)),
        ("s3://bucket/", AuditPlace("bucket", AUDIT_OBJECT_PREFIX)),
        ("s3://bucket/a/b", AuditPlace("bucket", "a/b/")),
        ("s3://bucket/audit/", AuditPlace("bucket", "audit/")),
    ],
)
def test_a_url_names_bucket_and_prefix(url: str, place: AuditPlace) -> None:
    """A bucket alone gets the usual prefix."""
    assert parse_audit_place(url) == place


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///a", "https://bucket/a", "s3://bucket/a?versionId=1", "file:", "file:a/"]
)
def test_a_url_of_another_form_is_refused(url: str) -> None:
    """And told which are allowed."""
    with pytest.raises(ValueError, match=r"allowed: .*(file:path|s3://bucket/prefix)"):
        outlet_at(url)


@pytest.mark.parametrize("url", ["file:/state/audit.jsonl", "file:///state/audit.jsonl", "file:/state/audit%2Ejsonl"])
def test_a_file_s_url_names_its_path(url: str) -> None:
    """In both usual forms."""
    assert str(audit_path(url)) == "/state/audit.jsonl"
    assert outlet_at(url).at_once


def test_an_outlet_in_aws_waits_for_flushes() -> None:
    """An object for each event would cost a request for each."""
    assert not outlet_at("s3://bucket/audit/", REGION).at_once
