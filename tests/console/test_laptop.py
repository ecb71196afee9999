"""What a person chose becomes the settings and the variables of the agent's process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import CONTAINER_VARIABLE, LAUNCH, TELEMETRY_SWITCHES, Regime
from agent_image.places import knowledge_base_at, passage_store_at
from agent_image.retrieval.folder import parse_folder
from agent_image.settings import load, parse
from console.errors import BadInputError
from console.laptop import SAMPLE_KNOWLEDGE, Laptop, laptop


def chosen(tmp_path: Path, **options: Any) -> Laptop:
    usual = {"knowledge": None, "window": None, "overlap": None, "model": "offline:", "capture": Regime.ARCHIVE}
    return laptop(tmp_path / "state", **{**usual, **options})


def never(uri: str) -> str:
    raise AssertionError(uri)


@pytest.mark.parametrize("regime", Regime)
def test_the_agent_understands_its_variables(tmp_path: Path, regime: Regime) -> None:
    """The image's own reader takes them as they are."""
    settings = load(chosen(tmp_path, capture=regime).variables({"HOME": "/home/me"}, 8081), never)

    state = tmp_path / "state"
    assert settings.capture is regime
    assert (settings.environment, settings.models, settings.region) == ("local", ("offline:",), None)
    assert settings.knowledge_base == f"folder:{SAMPLE_KNOWLEDGE}?window=1200&overlap=200"
    assert settings.store == f"sqlite:///{state}/guard.db"
    assert settings.archive == f"file:{state}/archive"
    assert settings.audit == f"file:{state}/audit.jsonl"
    assert settings.ledger == f"file:{state}/ledger.jsonl"
    assert settings.destination == f"file:{state}/spans.jsonl"


@pytest.mark.parametrize("regime", Regime)
def test_telemetry_starts_as_in_the_container(tmp_path: Path, regime: Regime) -> None:
    """The switches of the regime hold, whatever the shell says; the port is the one chosen."""
    shell = {
        "HOME": "/home/me",
        "OTEL_SDK_DISABLED": "true",
        "OTEL_TRACES_EXPORTER": "none",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://example.com",
        "RAG_CAPTURE": "content",
        "DOCKER_CONTAINER": "1",
        "PORT": "1",
    }

    variables = chosen(tmp_path, capture=regime).variables(shell, 8081)

    launch = {name: value for name, value in LAUNCH.items() if name != CONTAINER_VARIABLE}
    assert launch.items() | TELEMETRY_SWITCHES[regime].items() <= variables.items()
    assert (variables["HOME"], variables["PORT"]) == ("/home/me", "8081")
    assert set(shell) - set(variables) == {
        "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "DOCKER_CONTAINER",
    }  # fmt: skip
    assert variables["OTEL_EXPORTER_OTLP_ENDPOINT"].startswith("http://127.0.0.1:")


def test_the_variable_that_opens_the_network_is_one_of_the_container_s() -> None:
    """Should the contract name it otherwise, this says so."""
    assert CONTAINER_VARIABLE in LAUNCH


@given(name=st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/"), min_size=1, max_size=20))
def test_any_folder_s_name_reaches_the_knowledge_base(name: str) -> None:
    """Blanks, question marks, per cent signs and letters of any kind survive the URL."""
    # As a path of its own, so that a name of dots stays a name.
    folder = Path("/documents") / f"d{name}"
    machine = Laptop(Path("/state"), folder, chosen(Path("/x")).cut, "offline:", Regime.ADDRESS)

    assert parse_folder(str(machine.settings()["knowledge_base"])).path == folder


def test_the_places_can_be_opened(tmp_path: Path) -> None:
    """In a folder whose name needs care, the image opens the knowledge base and the archive."""
    (documents := tmp_path / "my docs 50%?").mkdir()
    (documents / "a.md").write_text("Thirty days.")
    machine = laptop(tmp_path / "my état", documents, window=100, overlap=0, model="offline:", capture=Regime.ARCHIVE)
    settings = parse(json.loads(json.dumps(machine.settings())), Regime.ARCHIVE)

    knowledge_base = knowledge_base_at(settings)

    assert knowledge_base is not None
    assert [passage.text for passage in knowledge_base.retrieve("days", 5).passages] == ["Thirty days."]
    assert passage_store_at(settings)
    knowledge_base.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("window", "overlap", "found"),
    [(None, None, (1200, 200)), (100, None, (100, 50)), (None, 0, (1200, 0)), (80, 40, (80, 40))],
)
def test_sizes_that_nobody_names_fit_those_that_are_named(
    tmp_path: Path, window: int | None, overlap: int | None, found: tuple[int, int]
) -> None:
    """A small window has a smaller overlap by itself."""
    cut = chosen(tmp_path, window=window, overlap=overlap).cut

    assert (cut.window, cut.overlap) == found


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"window": 0}, "--window is 0; allowed: 40 to 100000 characters"),
        ({"window": -5}, "--window is -5"),
        ({"overlap": 700}, "--overlap is 700; allowed: 0 to 600, half the window"),
        ({"overlap": -1}, "--overlap is -1"),
        ({"knowledge": Path("no-such-folder")}, "--knowledge is 'no-such-folder'; allowed: a folder"),
    ],
)
def test_what_leads_nowhere_is_refused(tmp_path: Path, options: dict[str, Any], fault: str) -> None:
    """The option is named, its value, and what is allowed."""
    with pytest.raises(BadInputError, match=fault):
        chosen(tmp_path, **options)
