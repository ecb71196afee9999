"""A bundle of code holds what the runtime needs, the same bytes each time, and is stored as a version of one object."""

from __future__ import annotations

import base64
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import boto3
import pytest
from moto.server import ThreadedMotoServer

from stacks.artifact import bundle
from stacks.names import Place, bundle_bucket
from stacks.preflight import PLACEHOLDER_BUNDLE
from tests.conftest import ROOT
from tests.loopback.buckets import remove_bucket
from tests.stacks.dockerfile import read as read_dockerfile
from tests.stacks.operating import DIGEST, REAL_ACCOUNT

BUCKET = bundle_bucket(Place(REAL_ACCOUNT, "us-east-1"))
SCRIPT = "from launching import run"
ENTRY_POINTS = "[console_scripts]\nopentelemetry-instrument = launching:run\nother = launching:run\n"
MAIN = "print('the agent runs')\n"


def wheel(folder: Path, name: str, tag: str, files: Mapping[str, str]) -> str:
    """Write a wheel, and give its entry in a lock file."""
    info = f"{name}-1.0.dist-info"
    held = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    held[f"{info}/RECORD"] = (
        "".join(f"{file},{_recorded(text)}\n" for file, text in held.items()) + f"{info}/RECORD,,\n"
    )
    path = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as written:
        for file, text in held.items():
            written.writestr(file, text)
    return f"{name}==1.0 \\\n    --hash=sha256:{sha256(path.read_bytes()).hexdigest()}\n"


def _recorded(text: str) -> str:
    digest = base64.urlsafe_b64encode(sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(text)}"


@dataclass(frozen=True, slots=True)
class Project:
    """Hold a folder with settings, code of an agent, and wheels that pip finds without a network."""

    folder: Path
    environment: Mapping[str, str]

    @property
    def settings(self) -> Path:
        return self.folder / "environments" / "dev.toml"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            # -P: the folder's own agent_image is what is packed, not what the stacks import.
            [sys.executable, "-P", "-m", "stacks", *arguments],
            cwd=self.folder,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def project(settings: Path, tmp_path: Path) -> Project:
    code, wheels = tmp_path / "agent_image", tmp_path / "wheels"
    for folder in (code / "__pycache__", wheels):
        folder.mkdir(parents=True)
    pure = wheel(
        wheels,
        "launching",
        "py3-none-any",
        {"launching/__init__.py": "def run(): ...\n", "launching-1.0.dist-info/entry_points.txt": ENTRY_POINTS},
    )
    native = wheel(wheels, "native", "cp313-cp313-manylinux2014_aarch64", {"native.so": "arm64"})
    wheel(wheels, "native", "cp311-cp311-manylinux2014_x86_64", {"native.so": "of this machine"})
    older = f"older==1.0 ; python_full_version < '3.12' \\\n    --hash=sha256:{'0' * 64}\n"
    (code / "requirements.lock").write_text(pure + native + older)
    (code / "__init__.py").touch()
    (code / "__main__.py").write_text(MAIN)
    for name in ("Dockerfile", ".dockerignore", "__pycache__/left.pyc"):
        (code / name).touch()
    text = (settings / "dev.toml").read_text()
    (settings / "dev.toml").write_text(
        text.replace(f'image = "{DIGEST}"', f'artifact = "code"\nbundle = "{PLACEHOLDER_BUNDLE}"')
    )
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}
    known = {name: os.environ[name] for name in ("PATH", "HOME")}
    return Project(tmp_path, {**known, "PYTHONPATH": str(ROOT), **pip})


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@dataclass(frozen=True, slots=True)
class Store:
    """Hold the account's bundle bucket, and the variables by which it is reached."""

    client: Any
    variables: Mapping[str, str]


@pytest.fixture
def store(endpoint: str) -> Iterator[Store]:
    keys = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "example"}
    client = boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
    )
    client.create_bucket(Bucket=BUCKET)
    yield Store(client, {**keys, "AWS_ENDPOINT_URL_S3": endpoint})
    remove_bucket(client, BUCKET)
    client.close()


def keep_versions(store: Store) -> None:
    store.client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})


def test_a_bundle_holds_the_code_its_packages_and_a_main_and_nothing_of_this_machine(project: Project) -> None:
    """Wheels for the runtime's machine and Python; one script, which names no path of the machine that built it."""
    answer = project.run("zip", "build/agent.zip")

    assert answer.returncode == 0, answer.stderr
    with zipfile.ZipFile(project.folder / "build" / "agent.zip") as packed:
        assert packed.namelist() == [
            "agent_image/__init__.py",
            "agent_image/__main__.py",
            "bin/opentelemetry-instrument",
            "launching-1.0.dist-info/METADATA",
            "launching-1.0.dist-info/WHEEL",
            "launching-1.0.dist-info/entry_points.txt",
            "launching/__init__.py",
            "main.py",
            "native-1.0.dist-info/METADATA",
            "native-1.0.dist-info/WHEEL",
            "native.so",
        ]
        assert packed.read("native.so") == b"arm64"
        script = packed.read("bin/opentelemetry-instrument").decode()
        assert script.startswith("#!/usr/bin/env python3\n")
        assert SCRIPT in script
        assert str(Path(sys.executable).parent) not in script


def test_any_user_may_read_a_bundle_s_files_and_start_its_script(project: Project) -> None:
    """The runtime unpacks the zip, and runs it as a user of its own."""
    project.run("zip", "build/agent.zip")

    with zipfile.ZipFile(project.folder / "build" / "agent.zip") as packed:
        rights = {entry.filename: stat.S_IMODE(entry.external_attr >> 16) for entry in packed.infolist()}

    assert rights.pop("bin/opentelemetry-instrument") == 0o755
    assert set(rights.values()) == {0o644}


def test_the_same_packages_and_code_give_the_same_bytes(project: Project) -> None:
    """Neither the time of a file nor that of the build is in it."""
    project.run("zip", "one.zip")
    os.utime(project.folder / "agent_image" / "__main__.py", (0, 1_000_000_000))
    project.run("zip", "two.zip")

    assert (project.folder / "one.zip").read_bytes() == (project.folder / "two.zip").read_bytes()


def test_the_main_of_a_bundle_runs_the_agent_as_the_image_does(project: Project) -> None:
    """`python -m agent_image`, said in a file, since the entry point names one."""
    project.run("zip", "agent.zip")
    with zipfile.ZipFile(project.folder / "agent.zip") as packed:
        packed.extractall(project.folder / "unpacked")

    answer = subprocess.run(
        [sys.executable, "main.py"], cwd=project.folder / "unpacked", capture_output=True, text=True, check=False
    )

    assert (answer.returncode, answer.stdout) == (0, "the agent runs\n")


def test_packages_are_chosen_for_the_runtime_and_not_for_this_machine() -> None:
    """Markers are evaluated before pip sees them: it would take its own Python for the runtime's."""
    lock = (
        "both==1 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
        "old==1 ; python_full_version < '3.12' \\\n    --hash=sha256:cc\n"
        "new==1 ; python_full_version >= '3.12' and sys_platform != 'emscripten' \\\n    --hash=sha256:dd\n"
        "windows==1 ; sys_platform == 'win32' \\\n    --hash=sha256:ee\n"
        "arm==1 ; platform_machine == 'aarch64' \\\n    --hash=sha256:ff\n"
    )

    assert bundle.requirements(lock).splitlines() == [
        "both==1 --hash=sha256:aa --hash=sha256:bb",
        "new==1 --hash=sha256:dd",
        "arm==1 --hash=sha256:ff",
    ]


def test_the_image_s_own_lock_file_can_be_chosen_from() -> None:
    """Every entry that the runtime needs keeps its hashes and loses its marker."""
    chosen = bundle.requirements((ROOT / "agent_image" / "requirements.lock").read_text()).splitlines()

    assert {"strands-agents", "bedrock-agentcore", "aws-opentelemetry-distro", "boto3"} <= {
        line.partition("==")[0] for line in chosen
    }
    assert all(" --hash=sha256:" in line and ";" not in line for line in chosen)


def test_image_and_bundle_run_the_same_python() -> None:
    """What works in the one works in the other."""
    base = read_dockerfile((ROOT / "agent_image" / "Dockerfile").read_text()).base

    assert base.partition("@")[0].partition(":")[2].startswith(f"{bundle.PYTHON}-")
    assert bundle.RUNTIME.removeprefix("PYTHON_").replace("_", ".") == bundle.PYTHON


def test_a_bundle_over_a_limit_is_refused_with_its_largest_packages() -> None:
    """Each limit by itself; what is just within both passes."""
    packages = {"small": 1, "b": 300_000_000, "a": 400_000_000, "c": 3_000_000, "d": 2_000_000, "e": 1_000_000}
    largest = "the largest: a 400.0 MB, b 300.0 MB, c 3.0 MB, d 2.0 MB, e 1.0 MB"

    assert list(bundle.Sizes(250_000_000, 750_000_000, packages).problems()) == []
    assert list(bundle.Sizes(250_100_000, 750_100_000, packages).problems()) == [
        f"the bundle is 250.1 MB zipped; allowed: 250.0 MB; {largest}",
        f"the bundle is 750.1 MB unzipped; allowed: 750.0 MB; {largest}",
    ]


def test_the_version_that_was_stored_is_written_into_the_environment_file(project: Project, store: Store) -> None:
    """One line changes; the object of that version is the bundle."""
    keep_versions(store)
    before = project.settings.read_text()
    project.run("zip", "agent.zip")

    answer = Project(project.folder, {**project.environment, **store.variables}).run("bundle", "dev")

    assert answer.returncode == 0, answer.stderr
    (stored,) = store.client.list_object_versions(Bucket=BUCKET)["Versions"]
    assert project.settings.read_text() == before.replace(PLACEHOLDER_BUNDLE, stored["VersionId"])
    body = store.client.get_object(Bucket=BUCKET, Key="agent.zip", VersionId=stored["VersionId"])["Body"]
    with body:
        assert body.read() == (project.folder / "agent.zip").read_bytes()


def test_a_bucket_that_keeps_no_versions_is_refused(project: Project, store: Store) -> None:
    """There would be nothing to roll back to, and nothing that a change shows by."""
    before = project.settings.read_text()

    answer = Project(project.folder, {**project.environment, **store.variables}).run("bundle", "dev")

    assert answer.returncode == 2
    assert answer.stderr.strip() == f"s3://{BUCKET}: keeps no versions; `make deploy-account ACCOUNT=sandbox` first"
    assert project.settings.read_text() == before


def test_a_bundle_that_cannot_be_stored_leaves_the_file_alone(project: Project, endpoint: str) -> None:
    """No bucket, or no credentials: AWS's own words, and no traceback."""
    before = project.settings.read_text()
    reached = {**project.environment, "AWS_ENDPOINT_URL_S3": endpoint, "AWS_EC2_METADATA_DISABLED": "true"}
    keys = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "example"}
    nobody = {"AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_CONFIG_FILE": os.devnull}

    without_bucket = Project(project.folder, {**reached, **keys}).run("bundle", "dev")
    without_keys = Project(project.folder, {**reached, **nobody}).run("bundle", "dev")

    for answer, said in ((without_bucket, "NoSuchBucket"), (without_keys, "Unable to locate credentials")):
        assert answer.returncode == 2
        assert said in answer.stderr
        assert "Traceback" not in answer.stderr
    assert project.settings.read_text() == before


class Recorder(BaseHTTPRequestHandler):
    """Answer a PUT as S3 does, and write down who had to own the bucket."""

    protocol_version = "HTTP/1.1"
    owners: ClassVar[list[str | None]] = []

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.owners.append(self.headers["x-amz-expected-bucket-owner"])
        self.send_response(200)
        self.send_header("x-amz-version-id", "a-version")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_a_bundle_goes_to_nobody_else_s_bucket(project: Project) -> None:
    """Bucket names are global: S3 is told whose it must be, and refuses another's."""
    keys = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "example"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        reached = {"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{server.server_port}"}
        answer = Project(project.folder, {**project.environment, **keys, **reached}).run("bundle", "dev")
        server.shutdown()

    assert answer.returncode == 0, answer.stderr
    assert Recorder.owners == [REAL_ACCOUNT]


def test_a_package_without_a_wheel_for_the_runtime_stops_the_build(project: Project) -> None:
    """Nothing is built from source, and nothing of another machine is taken."""
    next((project.folder / "wheels").glob("native*aarch64.whl")).unlink()

    answer = project.run("zip", "agent.zip")

    assert answer.returncode == 2
    assert "there is no bundle" in answer.stderr
    assert not (project.folder / "agent.zip").exists()


def test_a_bundle_is_built_for_an_environment_that_runs_code_in_an_account_of_one_s_own(
    settings: Path, project: Project
) -> None:
    """Everything that is missing is said at once, before anything is built."""
    (project.folder / "agent_image" / "requirements.lock").unlink()
    account = settings / "accounts" / "production.toml"
    account.write_text(account.read_text().replace("444455556666", "123456789012"))
    prod = settings / "prod.toml"
    prod.write_text(prod.read_text().replace("444455556666", "123456789012"))

    answer = project.run("bundle", "prod")

    assert answer.returncode == 2
    lock, account_id, artifact = answer.stderr.splitlines()
    assert lock == "agent_image/requirements.lock: there is none, so no bundle to build"
    assert "account_id = 123456789012" in account_id
    assert artifact == (
        'environments/prod.toml: agent.artifact = "image": the environment does not run this; write "code" first'
    )
