"""Objects of S3 are read as they are now and as they were, and what is not read is never called missing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ProfileNotFound

from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.passage import Address
from console.trace.archive import NoArchive
from console.trace.facts import Source, Text
from console.trace.index_now import NoIndex
from console.trace.resolve import Resolver, Wanted
from console.trace.sources.by_scheme import ByScheme
from console.trace.sources.s3 import S3, VERSIONS
from console.trace.sources.s3_uri import S3Object, s3_object
from console.trace.sources.source import Content, Refused, Why, missing, unreadable
from tests.loopback.aws import moto
from tests.loopback.server import QuietHandler, serving

REGION = "eu-central-1"


def client(url: str, **options: Any) -> Any:
    config = Config(connect_timeout=5, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}, **options)
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client("s3", endpoint_url=url, region_name=REGION, config=config, **keys)


class Bucket:
    """A bucket that keeps versions, on moto's server."""

    def __init__(self, url: str, *, versioned: bool = True) -> None:
        self.name = f"shop-{uuid4().hex}"
        self.s3 = client(url)
        self.s3.create_bucket(Bucket=self.name, CreateBucketConfiguration={"LocationConstraint": REGION})
        if versioned:
            self.s3.put_bucket_versioning(Bucket=self.name, VersioningConfiguration={"Status": "Enabled"})

    def put(self, key: str, text: str, **options: str) -> str | None:
        version: str | None = self.s3.put_object(Bucket=self.name, Key=key, Body=text.encode(), **options).get(
            "VersionId"
        )
        return version

    def uri(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def source(self, **options: int) -> S3:
        return S3(lambda: self.s3, **options)


@pytest.fixture(scope="module")
def aws_url() -> Iterator[str]:
    with moto() as url:
        yield url


@pytest.fixture
def bucket(aws_url: str) -> Bucket:
    return Bucket(aws_url)


def resolved(bucket: Bucket, key: str, words: str) -> Any:
    wanted = Wanted(Address(key, fingerprint(words)), bucket.uri(key))
    source = ByScheme({"s3": bucket.source()})
    return Resolver(source, NoArchive(), NoIndex()).facts([wanted])[wanted]


@pytest.mark.parametrize(
    "key", ["a.md", "my file (1).md", "50%.md", "a%20b.md", "ä/漢字.md", "what?.md", "one#two.md", "//x.md", "a+b.md"]
)
def test_a_key_is_read_as_it_is_written(bucket: Bucket, key: str) -> None:
    """A knowledge base writes keys as they are: nothing in them is a query, a fragment or an escape."""
    bucket.put(key, f"Words of {key}.")

    read = bucket.source().read(bucket.uri(key))

    assert isinstance(read, Content)
    assert (read.data.decode(), read.name) == (f"Words of {key}.", key.rpartition("/")[2])


def test_a_key_that_was_encoded_is_read_too(bucket: Bucket) -> None:
    """Where no object has the name as it stands."""
    bucket.put("my file.md", "Words.")

    read = bucket.source().read(bucket.uri("my%20file.md"))

    assert isinstance(read, Content)
    assert read.data == b"Words."


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("s3://shop-a/x/y.md", S3Object("shop-a", ("x/y.md",))),
        ("S3://shop-a/x%20y", S3Object("shop-a", ("x%20y", "x y"))),
        ("https://shop-a.s3.eu-central-1.amazonaws.com/x%20y.md", S3Object("shop-a", ("x y.md",))),
        ("https://shop.a.s3.amazonaws.com/x.md", S3Object("shop.a", ("x.md",))),
        ("https://shop-a.s3-eu-west-1.amazonaws.com/x.md", S3Object("shop-a", ("x.md",))),
        ("https://shop-a.s3.dualstack.eu-west-1.amazonaws.com/x.md", S3Object("shop-a", ("x.md",))),
        ("https://s3.us-gov-west-1.amazonaws.com/shop-a/x.md", S3Object("shop-a", ("x.md",))),
        ("https://s3.amazonaws.com/shop-a/x/y.md", S3Object("shop-a", ("x/y.md",))),
        ("https://s3.amazonaws.com/shop-a/x.md?X-Amz-Signature=abc", None),
        ("https://shop-a.s3.amazonaws.com.evil.example/x.md", None),
        ("https://shop-a.s3.amazonaws.com:8443/x.md", None),
        ("https://shop-a.s3.amazonaws.com:99999/x.md", None),
        ("https://example.com/x.md", None),
        ("s3://shop-a/", None),
        ("s3:///x.md", None),
        ("s3://arn:aws:s3:eu-central-1:111122223333:accesspoint/x", None),
        ("https://[/x", None),
    ],
)
def test_an_object_is_named_in_many_ways(uri: str, expected: S3Object | None) -> None:
    """What only looks like S3 is none."""
    assert s3_object(uri) == expected


def test_a_web_address_of_s3_is_read_with_the_rights_of_who_asks(bucket: Bucket) -> None:
    """Not as a stranger on the web."""
    bucket.put("x y.md", "Words.")
    source = ByScheme({"s3": bucket.source()})

    read = source.read(f"https://{bucket.name}.s3.{REGION}.amazonaws.com/x%20y.md")

    assert isinstance(read, Content)


def test_what_it_is_comes_from_the_object(bucket: Bucket) -> None:
    """Media type and charset as they were stored; a packed object is unpacked."""
    packed = gzip.compress("Grüße".encode("latin-1"))
    bucket.s3.put_object(
        Bucket=bucket.name,
        Key="x",
        Body=packed,
        ContentEncoding="gzip",
        ContentType="Text/Plain; Charset=ISO-8859-1",
    )

    read = bucket.source().read(bucket.uri("x"))

    assert isinstance(read, Content)
    assert (read.data, read.media_type, read.charset) == ("Grüße".encode("latin-1"), "text/plain", "ISO-8859-1")


def test_what_is_not_there_is_missing(bucket: Bucket) -> None:
    """An object, and a bucket."""
    assert bucket.source().read(bucket.uri("none.md")) == missing(Why.NOT_FOUND)
    assert bucket.source().read("s3://no-such-bucket-anywhere/none.md") == missing(Why.NO_BUCKET)
    assert bucket.source().read("s3://NoBucket/none.md") == unreadable(Why.BAD_URI)


def test_an_object_in_cold_storage_is_unreadable(bucket: Bucket) -> None:
    """It is there, and must be restored first."""
    bucket.put("x.md", "Words.", StorageClass="GLACIER")

    assert bucket.source().read(bucket.uri("x.md")) == unreadable(Why.COLD)


def test_an_object_that_is_too_large_is_not_read(bucket: Bucket) -> None:
    """Neither as it lies there, nor as what it unpacks to."""
    bucket.put("x.md", "x" * 1_001)
    bucket.s3.put_object(Bucket=bucket.name, Key="y", Body=gzip.compress(b"x" * 1_001), ContentEncoding="gzip")

    for key in ("x.md", "y"):
        assert bucket.source(limit_bytes=1_000).read(bucket.uri(key)) == unreadable(Why.TOO_LARGE)
        assert isinstance(bucket.source(limit_bytes=1_001).read(bucket.uri(key)), Content)


def test_a_passage_is_found_in_an_older_version(bucket: Bucket) -> None:
    """The document has changed; the words come from the newest version that holds them."""
    bucket.put("x.md", "Thirty days. In the first version.")
    second = bucket.put("x.md", "Thirty days. In the second.")
    bucket.put("x.md", "Ten days.")
    bucket.put("x.md.bak", "Thirty days. In another object.")

    found = resolved(bucket, "x.md", "Thirty days.")

    assert (found.source.state, found.source.version) == (Source.CHANGED, second)
    assert found.source.version_time.startswith("20")
    assert found.source.version_time.endswith("Z")
    assert (found.text.state, found.text.words) == (Text.SOURCE, "Thirty days.")


def test_a_deleted_document_of_a_versioned_bucket_is_missing_and_its_words_come_back(bucket: Bucket) -> None:
    """A delete marker hides what is there."""
    version = bucket.put("x.md", "Thirty days.")
    bucket.s3.delete_object(Bucket=bucket.name, Key="x.md")

    found = resolved(bucket, "x.md", "Thirty days.")

    assert (found.source.state, found.source.why, found.source.version) == (Source.MISSING, Why.DELETED, version)
    assert (found.text.state, found.text.words) == (Text.SOURCE, "Thirty days.")


def test_older_versions_are_those_of_this_object_before_the_newest(bucket: Bucket) -> None:
    """Not those of an object whose key begins in the same way, and not what was read already."""
    first, second, third = (bucket.put("x.md", f"Words {n}.") for n in range(3))
    bucket.put("x.md.bak", "Thirty days.")
    source = bucket.source()

    def ids(newest: str) -> list[str]:
        versions = source.older(bucket.uri("x.md"), newest)
        assert not isinstance(versions, Refused)
        return [version.id for version in versions]

    assert ids(third or "") == [second, first]
    assert ids("") == [third, second, first]
    assert resolved(bucket, "x.md", "Thirty days.").text.state is Text.NOT_RECOVERED


def test_only_so_many_versions_are_looked_at(bucket: Bucket) -> None:
    """The newest of them; what is older is not found."""
    bucket.put("x.md", "The oldest words.")
    for n in range(VERSIONS + 1):
        bucket.put("x.md", f"Other words {n}.")

    versions = bucket.source().older(bucket.uri("x.md"), "")
    assert not isinstance(versions, Refused)
    assert len(versions) == VERSIONS
    assert resolved(bucket, "x.md", "Other words 1.").source.version
    gone = resolved(bucket, "x.md", "The oldest words.")
    assert (gone.source.state, gone.source.version, gone.text.state) == (Source.CHANGED, "", Text.NOT_RECOVERED)


def test_a_bucket_without_versions_has_none(aws_url: str) -> None:
    """What has changed there has changed."""
    bucket = Bucket(aws_url, versioned=False)
    bucket.put("x.md", "Thirty days.")
    bucket.put("x.md", "Ten days.")

    found = resolved(bucket, "x.md", "Thirty days.")

    assert (found.source.state, found.source.why, found.text.state) == (Source.CHANGED, "", Text.NOT_RECOVERED)


# --- what moto does not say -------------------------------------------------------------------------------------------


Answer = tuple[int, str, bytes, dict[str, str]]
Answers = Mapping[str, Sequence[Answer]]


@contextmanager
def scripted(answers: Answers) -> Iterator[tuple[str, list[str]]]:
    """Answer requests, by their paths and queries, each with the next of its answers; the last one stays."""
    asked: list[str] = []

    class Scripted(QuietHandler):
        def do_GET(self) -> None:
            path = unquote(self.path)
            asked.append(path)
            all_ = next(list_ for name, list_ in answers.items() if path.startswith(name))
            status, code, body, headers = all_[min(asked.count(path), len(all_)) - 1]
            error = f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()
            self.answer(body or (error if code else b""), status=status, content_type="application/xml", **headers)

    with serving(Scripted) as url:
        yield url, asked


DENIED: Answer = (403, "AccessDenied", b"", {})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (DENIED, unreadable(Why.ACCESS_DENIED)),
        ((403, "InvalidAccessKeyId", b"", {}), unreadable(Why.ACCESS_DENIED)),
        ((400, "ExpiredToken", b"", {}), unreadable(Why.ACCESS_DENIED)),
        ((503, "SlowDown", b"", {}), unreadable(Why.THROTTLED)),
        ((500, "InternalError", b"", {}), unreadable(Why.SERVER_ERROR)),
        ((418, "Teapot", b"", {}), unreadable(Why.FAILED)),
        ((404, "NoSuchKey", b"", {}), missing(Why.NOT_FOUND)),
        ((404, "NoSuchKey", b"", {"x_amz_delete_marker": "true"}), missing(Why.DELETED)),
        ((200, "", b"not gzip", {"Content_Encoding": "gzip"}), unreadable(Why.BROKEN)),
        ((200, "", gzip.compress(b"cut off")[:-4], {"Content_Encoding": "gzip"}), unreadable(Why.BROKEN)),
        ((200, "", b"zstd?", {"Content_Encoding": "zstd"}), unreadable(Why.UNSUPPORTED)),
    ],
)
def test_what_s3_says_is_what_is_said(answer: Answer, expected: Refused) -> None:
    """Denied is unreadable, also where the object may not exist: to who may not list, S3 says the same of both."""
    with scripted({"/shop/x.md": [answer]}) as (url, _):
        assert S3(lambda: client(url)).read("s3://shop/x.md") == expected


def test_a_throttled_request_is_sent_again() -> None:
    """By boto3 itself."""
    answers: list[Answer] = [(503, "SlowDown", b"", {}), (200, "", b"Words.", {})]
    with scripted({"/shop/x.md": answers}) as (url, asked):
        read = S3(lambda: client(url)).read("s3://shop/x.md")

    assert isinstance(read, Content)
    assert len(asked) == 2


def test_an_encoded_key_is_tried_where_the_first_may_not_be_read() -> None:
    """Who may not list is denied what does not exist: the name as it stands may be such a one."""
    with scripted({"/shop/a%20b": [DENIED], "/shop/a b": [(200, "", b"Words.", {})]}) as (url, asked):
        read = S3(lambda: client(url)).read("s3://shop/a%20b")

    assert isinstance(read, Content), asked


def test_a_key_that_is_denied_is_not_missing_because_another_is() -> None:
    """The name as it stands may be that of an object under a key that nobody may use."""
    with scripted({"/shop/a%20b": [DENIED], "/shop/a b": [(404, "NoSuchKey", b"", {})]}) as (url, _):
        assert S3(lambda: client(url)).read("s3://shop/a%20b") == unreadable(Why.ACCESS_DENIED)


def test_who_is_not_signed_in_is_told_so() -> None:
    """Which is no word about the document."""

    def nobody() -> Any:
        raise ProfileNotFound(profile="prod")

    source = S3(nobody)

    assert source.read("s3://shop/x.md") == unreadable(Why.NO_CREDENTIALS)
    assert source.older("s3://shop/x.md", "v1") == unreadable(Why.NO_CREDENTIALS)


def test_versions_that_may_not_be_listed_are_refused() -> None:
    """Not: there are none."""
    with scripted({"/shop?": [DENIED]}) as (url, _):
        assert S3(lambda: client(url)).older("s3://shop/x.md", "v1") == unreadable(Why.ACCESS_DENIED)


def test_nothing_that_listens_is_unreachable() -> None:
    """Which says nothing of the document."""
    source = S3(lambda: client("http://127.0.0.1:9"))

    assert source.read("s3://shop/x.md") == unreadable(Why.UNREACHABLE)
    assert source.older("s3://shop/x.md", "") == unreadable(Why.UNREACHABLE)


def test_an_object_that_breaks_off_is_no_object() -> None:
    """A part of a document is not the document."""

    class Broken(QuietHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"Thirty days.")
            self.close_connection = True

    with serving(Broken) as url:
        assert S3(lambda: client(url)).read("s3://shop/x.md") == unreadable(Why.UNREACHABLE)


def test_a_policy_of_the_bucket_denies(aws_url: str) -> None:
    """As it stands in front of the object: denied is not missing."""
    bucket = Bucket(aws_url)
    bucket.put("x.md", "Words.")
    arn = f"arn:aws:s3:::{bucket.name}/*"
    deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject", "Resource": arn}
    bucket.s3.put_bucket_policy(Bucket=bucket.name, Policy=json.dumps({"Version": "2012-10-17", "Statement": [deny]}))
    anonymous = client(aws_url)

    assert S3(lambda: anonymous).read(bucket.uri("x.md")) == unreadable(Why.ACCESS_DENIED)
