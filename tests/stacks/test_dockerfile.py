"""The image's Dockerfile, the contract and the runtime's variables agree, and nothing in the image is secret."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from agent_image.contract import LAUNCH, SETTINGS_VARIABLE, TELEMETRY_SWITCHES, Regime
from stacks.settings.types import is_hook_file
from tests.architecture.test_imports import imports, sources
from tests.conftest import ROOT
from tests.stacks.dockerfile import Dockerfile, read
from tests.synthesis import Synthesis

IMAGE = ROOT / "agent_image"
SAFE = Regime.ADDRESS
SECRETS = re.compile(
    r"AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|-----BEGIN|(?i:secret|password|passwd|token|api_?key|credential)[^\s=]*="
)


@pytest.fixture(scope="module")
def dockerfile() -> Dockerfile:
    return read((IMAGE / "Dockerfile").read_text())


def locked(path: Path) -> dict[str, str]:
    """Read a lock file: version and marker by name."""
    entries = (line.removesuffix("\\") for line in path.read_text().splitlines() if line and not line.startswith(" "))
    found = [Requirement(entry) for entry in entries]
    return {canonicalize_name(one.name): f"{one.specifier} {one.marker or ''}".strip() for one in found}


def test_the_image_holds_the_switches_of_a_safe_regime_and_what_launches_it(dockerfile: Dockerfile) -> None:
    """An image that is run by hand writes no texts either; what cannot be compiled anew is not written."""
    assert dockerfile.environment() == {
        **TELEMETRY_SWITCHES[SAFE],
        **LAUNCH,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def test_whatever_is_deployed_starts_with_the_same_variables(
    dockerfile: Dockerfile, shipped: Synthesis, variants: Synthesis
) -> None:
    """Image and stack together set the same names, whichever of them sets which; the stack adds its settings."""
    by_image = dockerfile.environment().keys() - {"PYTHONDONTWRITEBYTECODE"}

    for stack in [*shipped.agents, *variants.agents]:
        code = "code_configuration" in stack.only("aws_bedrockagentcore_agent_runtime")["agent_runtime_artifact"][0]
        set_there = stack.variables().keys() | (set() if code else by_image)
        assert by_image | {SETTINGS_VARIABLE} <= set_there
        if code:
            held = dockerfile.environment()
            assert {name: stack.variables()[name] for name in LAUNCH} == {name: held[name] for name in LAUNCH}


def test_nobody_in_the_image_is_root(dockerfile: Dockerfile) -> None:
    """A number: a platform can tell it from root without the image's list of names."""
    user, _, group = dockerfile.last("USER").partition(":")

    assert int(user) >= 1_000
    assert int(group) >= 1_000
    after = [one.word for one in dockerfile.stages[-1]]
    assert not {"RUN", "COPY", "ADD"} & set(after[after.index("USER") :])


def test_adot_comes_before_our_code_and_is_installed_not_bootstrapped(dockerfile: Dockerfile) -> None:
    """What is installed is what the lock file names: nothing is fetched when the container starts."""
    assert dockerfile.command() == ["opentelemetry-instrument", "python", "-m", "agent_image"]
    assert dockerfile.last("EXPOSE") == "8080"
    assert not [one for one in dockerfile.instructions if "bootstrap" in one.rest]


def test_the_folder_is_importable_under_its_own_name(dockerfile: Dockerfile) -> None:
    """The context is the folder itself; it lies in the working directory as `agent_image`."""
    assert dockerfile.last("WORKDIR") == "/app"
    assert "COPY . /app/agent_image" in [f"{one.word} {one.rest}" for one in dockerfile.instructions]


def test_packages_come_before_code_by_their_hashes_and_ready_made(dockerfile: Dockerfile) -> None:
    """A change of code leaves the large layer alone; the image that is built holds no tool to build with."""
    copies = [one.rest for one in dockerfile.stages[-1] if one.word == "COPY"]
    install = next(one.rest for one in dockerfile.stages[0] if one.word == "RUN")

    assert copies == ["--from=packages /install /usr/local", "--from=code /app /app"]
    # What the base happens to hold must not be taken for what the lock file names.
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps", "--ignore-installed"} <= set(install.split())
    assert not [one for one in dockerfile.stages[-1] if one.word == "RUN"]
    assert [one.rest for one in dockerfile.stages[0] if one.word == "COPY"] == ["requirements.lock /requirements.lock"]


def test_every_stage_starts_from_the_one_base(dockerfile: Dockerfile) -> None:
    """Pinning one line pins them all; `latest` is no pin."""
    assert {stage[0].rest.split()[0] for stage in dockerfile.stages} == {"${PYTHON}"}
    assert re.fullmatch(r"python:3\.\d+-slim-[a-z]+(?:@sha256:[0-9a-f]{64})?", dockerfile.base)


def test_nothing_secret_is_in_the_image() -> None:
    """Neither in the Dockerfile nor in any file that is copied into the image."""
    files = [path for path in IMAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    held = [path for path in files if SECRETS.search(path.read_text()) and path.suffix not in {".py", ".md"}]

    assert held == []
    assert not [path for path in files if path.suffix in {".pem", ".key", ".env"} or path.name.startswith(".env")]
    keys = re.compile(r"AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE")
    assert [path for path in files if keys.search(path.read_text())] == []


def test_what_the_image_does_not_need_stays_out_of_it() -> None:
    """Bytecode of another machine, hidden files and the Dockerfile itself."""
    patterns = (IMAGE / ".dockerignore").read_text().splitlines()

    assert {"**/__pycache__", "**/*.pyc", "**/.*", "Dockerfile"} <= set(patterns)


def test_hook_files_come_into_the_image() -> None:
    """Whatever path the settings of an environment may name."""
    patterns = [one for one in (IMAGE / ".dockerignore").read_text().splitlines() if not one.startswith("#")]

    for path in ("deployment.yaml", "hooks/deployment.yaml", "hooks/examples/agent.yml"):
        assert is_hook_file(path)
        # As Docker reads them: two stars stand for any number of folders, none included.
        assert not [one for one in patterns if fnmatch(path, one) or fnmatch(f"./{path}", one.replace("**/", "*/"))]


def test_the_base_has_what_hooks_are_run_by(dockerfile: Dockerfile) -> None:
    """Debian's slim images have bash, which Alpine's and distroless ones lack; nothing here takes it away."""
    assert re.match(r"python:3\.\d+-slim-(?:bookworm|trixie)", dockerfile.base)
    assert not {"SHELL", "ENTRYPOINT", "VOLUME"} & {one.word for one in dockerfile.stages[-1]}
    # Where hooks look for programs, and where they work, is the kit's to say.
    assert not {"PATH", "TMPDIR", "HOME", "BASH_ENV", "PYTHONHOME", "PYTHONPATH"} & dockerfile.environment().keys()


def test_the_image_s_lock_file_repeats_the_project_s() -> None:
    """What the tests run on is what the image runs on, hashes included."""
    image, project = locked(IMAGE / "requirements.lock"), locked(ROOT / "requirements.lock")
    hashes = set(re.findall(r"--hash=(\S+)", (IMAGE / "requirements.lock").read_text()))

    assert image
    assert {name: project.get(name) for name in image} == image
    assert hashes <= set(re.findall(r"--hash=(\S+)", (ROOT / "requirements.lock").read_text()))


def test_every_package_that_the_image_imports_is_in_its_lock_file() -> None:
    """The folder is all that the image is built from."""
    roots = {name.partition(".")[0] for path in sources("agent_image") for name in imports(path)}
    distributions = packages_distributions()
    needed = {canonicalize_name(one) for root in roots for one in distributions.get(root, ())} - {"rastro"}
    # Several distributions share a namespace such as `opentelemetry` or `google`: one of them is enough.
    shared = {canonicalize_name(one) for root in roots if len(held := distributions.get(root, [])) > 1 for one in held}

    assert needed - shared - locked(IMAGE / "requirements.lock").keys() == set()
