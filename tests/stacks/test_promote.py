"""What one environment runs is promoted to another's account under the same digest, or nothing is changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest

from stacks.artifact.copying import tag_of
from tests.loopback.aws import moto
from tests.loopback.buckets import remove_bucket
from tests.loopback.registry import INDEX, STORE, Ecr, Registry, standing
from tests.stacks.operating import DIGEST, REAL_ACCOUNT, stacks

PROD_ACCOUNT = "210987654322"
HERE, THERE = (f"{account}.dkr.ecr.us-east-1.amazonaws.com" for account in (REAL_ACCOUNT, PROD_ACCOUNT))
BOTH, DEV, PROD = "AKIAIOSFODNN7BOTH000", "AKIAIOSFODNN7DEV0000", "AKIAIOSFODNN7PROD000"
PROFILES = f"""
[profile dev]
aws_access_key_id = {DEV}
aws_secret_access_key = example
[profile prod]
aws_access_key_id = {PROD}
aws_secret_access_key = example
"""
LAYERS = (b"one layer", b"another layer" * 1000)


@dataclass(frozen=True, slots=True)
class Stage:
    """Hold a project with two accounts, and the registries of both."""

    project: Path
    ecr: Ecr

    @property
    def source(self) -> Registry:
        return self.ecr.registries[HERE]

    @property
    def target(self) -> Registry:
        return self.ecr.registries[THERE]

    def file(self, environment: str) -> Path:
        return self.project / "environments" / f"{environment}.toml"

    def rewrite(self, environment: str, old: str, new: str) -> None:
        text = self.file(environment).read_text()
        assert old in text
        self.file(environment).write_text(text.replace(old, new))

    def build(self) -> str:
        """Put an image into the source's repository and its digest into the file, as `make image` does."""
        digest = self.source.add_image(*LAYERS)
        self.rewrite("dev", DIGEST, digest)
        return digest

    def promote(self, *arguments: str, key: str = BOTH, **variables: str) -> subprocess.CompletedProcess[str]:
        known = {
            **self.ecr.variables(),
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": "example",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_CONFIG_FILE": str(self.project / "profiles"),
            **variables,
        }
        return stacks("promote", *(arguments or ("dev", "prod")), path="", cwd=self.project, **known)


@pytest.fixture
def stage(settings: Path, tmp_path: Path) -> Iterator[Stage]:
    for path in settings.rglob("*.toml"):
        path.write_text(path.read_text().replace("444455556666", PROD_ACCOUNT))
    (tmp_path / "profiles").write_text(PROFILES)
    registries = {
        HERE: Registry(pull=frozenset({BOTH, DEV}), push=frozenset({DEV})),
        THERE: Registry(pull=frozenset({BOTH, PROD}), push=frozenset({BOTH, PROD})),
    }
    with standing(tmp_path, registries) as ecr:
        yield Stage(settings.parent, ecr)


def test_an_image_keeps_its_digest_on_the_way(stage: Stage) -> None:
    """The same bytes, a tag so that it does not expire, one line of the file, and every comment stays."""
    digest = stage.build()
    before = stage.file("prod").read_text()

    answer = stage.promote()

    assert answer.returncode == 0, answer.stderr
    assert stage.target.manifests == dict.fromkeys((digest, tag_of(digest)), stage.source.manifests[digest])
    assert stage.target.blobs == stage.source.blobs
    assert stage.file("prod").read_text() == before.replace(DIGEST, digest)
    assert answer.stdout.splitlines() == [
        f"{THERE}/rastro-agent: holds {digest}",
        f"environments/prod.toml: agent.image = {digest}",
    ]


def test_each_side_may_have_a_profile_of_its_own(stage: Stage) -> None:
    """Most people have no credentials that reach both accounts."""
    digest = stage.build()

    answer = stage.promote("dev", "prod", "--from-profile", "dev", "--to-profile", "prod", key="nobody")

    assert answer.returncode == 0, answer.stderr
    assert digest in stage.target.manifests


def test_a_second_promotion_sends_nothing(stage: Stage) -> None:
    """Whether the file was written or not."""
    digest = stage.build()
    stage.promote()
    done = len(stage.ecr.asked)

    answer = stage.promote()

    assert answer.returncode == 0, answer.stderr
    assert f"held {digest} already" in answer.stdout
    assert {method for method, host, _ in stage.ecr.asked[done:] if host} == {"GET"}


def test_what_the_target_holds_is_not_sent_again(stage: Stage) -> None:
    """A new image shares most of its layers with the one before."""
    stage.build()
    stage.target.blobs |= dict(list(stage.source.blobs.items())[:2])

    assert stage.promote().returncode == 0
    assert len([path for method, _, path in stage.ecr.asked if method == "PATCH"]) == 1
    assert len([path for _, host, path in stage.ecr.asked if host == STORE]) == 1


def test_an_index_is_copied_with_the_images_that_it_names(stage: Stage) -> None:
    """Its digest is what the file says, and theirs is what it says."""
    images = [stage.source.add_image(layer, tag=layer.decode()) for layer in (b"arm64", b"amd64")]
    listed = [{"digest": image, "size": 1, "platform": {"architecture": "arm64"}} for image in images]
    digest = stage.source.add(INDEX, {"schemaVersion": 2, "manifests": listed})
    stage.rewrite("dev", DIGEST, digest)

    answer = stage.promote()

    assert answer.returncode == 0, answer.stderr
    assert stage.target.manifests.keys() == {digest, tag_of(digest), *images}


def test_environments_of_one_account_share_the_image(stage: Stage) -> None:
    """Only the digest is copied, and AWS is asked nothing."""
    digest = stage.build()

    answer = stage.promote("dev", "staging")

    assert answer.returncode == 0, answer.stderr
    assert f'image = "{digest}"' in stage.file("staging").read_text()
    assert stage.ecr.asked == []


REFUSED: dict[str, tuple[tuple[str, str, str], tuple[str, str], str]] = {
    "placeholder": (
        ("dev", DIGEST, f"sha256:{'0' * 64}"),
        ("dev", "prod"),
        "environments/dev.toml: agent.image: is the placeholder; `make image ENV=dev` builds, stores and writes which",
    ),
    "tag": (
        ("dev", DIGEST, "v1"),
        ("dev", "prod"),
        'environments/dev.toml: agent.image: = "v1": is a tag, and what is promoted is a digest; `make image ENV=dev`',
    ),
    "kinds": (
        ("prod", f'image = "{DIGEST}"', 'artifact = "code"\nbundle = "aVersion"'),
        ("dev", "prod"),
        'environments/prod.toml: agent.artifact = "code", and dev runs "image": make the two alike first, then promote',
    ),
    "itself": (("dev", DIGEST, DIGEST), ("dev", "dev"), "dev: is to be promoted to itself; name two environments"),
    "unknown": (("dev", DIGEST, DIGEST), ("dev", "pord"), "environment 'pord': there is no such file in environments/"),
}


@pytest.mark.parametrize(("change", "ends", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_promoted_is_refused_before_anything_is_asked(
    change: tuple[str, str, str], ends: tuple[str, str], says: str, stage: Stage
) -> None:
    """With what to do, and every file as it was."""
    stage.rewrite(*change)
    before = {name: stage.file(name).read_text() for name in ("dev", "prod")}

    answer = stage.promote(*ends)

    assert answer.returncode == 2
    assert answer.stderr.startswith(says)
    assert stage.ecr.asked == []
    assert {name: stage.file(name).read_text() for name in before} == before


FAILURES: dict[str, tuple[str, tuple[str, str] | None, str]] = {
    "may not read": (
        PROD,
        None,
        f"{HERE}/rastro-agent: refuses these credentials (403); name a profile of account {REAL_ACCOUNT} (FROM_",
    ),
    "may not write": (
        DEV,
        None,
        f"{THERE}/rastro-agent: refuses these credentials (403); name a profile of account {PROD_ACCOUNT} that may",
    ),
    "an upload fails": (BOTH, ("PATCH", "uploads"), f"{THERE}/rastro-agent: answered 500 to PATCH"),
    "the last step fails": (BOTH, ("PUT", "manifests"), f"{THERE}/rastro-agent: answered 500 to PUT"),
}


@pytest.mark.parametrize(("key", "failing", "says"), FAILURES.values(), ids=FAILURES)
def test_a_copy_that_fails_changes_no_file_and_names_no_image(
    key: str, failing: tuple[str, str] | None, says: str, stage: Stage
) -> None:
    """Whatever parts arrived, nothing refers to them."""
    stage.build()
    stage.ecr.failing = failing
    before = stage.file("prod").read_text()

    answer = stage.promote(key=key)

    assert answer.returncode == 2
    assert answer.stderr.startswith(says)
    assert stage.file("prod").read_text() == before
    assert stage.target.manifests == {}


def test_the_way_to_let_a_pipeline_read_is_named(stage: Stage) -> None:
    """A workflow has one role: the source's account says that it may."""
    stage.build()

    answer = stage.promote(key=PROD)

    assert 'or write promotes_to = ["production"] into environments/accounts/sandbox.toml and deploy' in answer.stderr


def test_an_image_that_is_gone_is_not_promoted(stage: Stage) -> None:
    """The file names what the repository dropped."""
    answer = stage.promote()

    assert answer.returncode == 2
    assert answer.stderr.startswith(f"{HERE}/rastro-agent: holds no image {DIGEST}; build one (`make image`)")


def test_forged_parts_are_not_promoted(stage: Stage) -> None:
    """A part is held to its digest before it is sent on."""
    stage.build()
    stage.ecr.forged.add(next(iter(stage.source.blobs)))

    answer = stage.promote()

    assert answer.returncode == 2
    assert "rastro-agent: handed out sha256:" in answer.stderr
    assert stage.target.blobs == {}


def test_a_forged_manifest_is_not_promoted(stage: Stage) -> None:
    """What is handed out for a digest must have it."""
    digest = stage.build()
    stage.source.manifests[digest] = (INDEX, b'{"manifests": []}')

    answer = stage.promote()

    assert answer.returncode == 2
    assert answer.stderr.startswith(f"{HERE}/rastro-agent: handed out sha256:")
    assert stage.target.manifests == {}


def test_missing_credentials_are_said_in_aws_s_own_words(stage: Stage) -> None:
    """No traceback, and what to name."""
    stage.build()

    answer = stage.promote(key="")

    assert answer.returncode == 2
    assert "Unable to locate credentials; name a profile that may (FROM_PROFILE=…, TO_PROFILE=…)" in answer.stderr


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    with moto() as url:
        yield url


def test_a_bundle_gets_a_version_of_its_own_in_the_other_account(stage: Stage, store: str) -> None:
    """S3 draws the version; the bytes are the same, and the file names what the target's bucket holds."""
    client = boto3.Session(DEV, "example", region_name="us-east-1").client("s3", endpoint_url=store)
    names = [f"rastro-bundles-{account}-us-east-1" for account in (REAL_ACCOUNT, PROD_ACCOUNT)]
    for name in names:
        client.create_bucket(Bucket=name)
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    version = client.put_object(Bucket=names[0], Key="agent.zip", Body=b"wheels")["VersionId"]
    for name, bundle in (("dev", version), ("prod", "0" * 32)):
        stage.rewrite(name, f'image = "{DIGEST}"', f'artifact = "code"\nbundle = "{bundle}"')

    answer = stage.promote(AWS_ENDPOINT_URL_S3=store)

    assert answer.returncode == 0, answer.stderr
    (stored,) = client.list_object_versions(Bucket=names[1])["Versions"]
    assert f'bundle = "{stored["VersionId"]}"' in stage.file("prod").read_text()
    with client.get_object(Bucket=names[1], Key="agent.zip")["Body"] as body:
        assert body.read() == b"wheels"
    for name in names:
        remove_bucket(client, name)
    client.close()
