"""Where the guard keeps things is found by the state folder, or by the environment's discovery document."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_image.contract import Regime
from agent_image.settings import load
from console.approvals.commands import counter
from console.errors import BadInputError, ConsoleError
from console.laptop import STATE, laptop, store_file
from console.place import Place, people_at, place_of
from console.where import Where, where
from tests.console.test_environment import Cloud, cloud, credentials, parameter, unasked

__all__ = ["cloud", "credentials"]
DISCOVERY = {"region": "eu-central-1", "table": "rastro-prod", "archive": "archive-prod", "audit": "audit-prod"}


@pytest.mark.parametrize("name", ["state", "my état 50% #1?", "a%20b"])
def test_a_state_folder_is_where_its_agent_writes(tmp_path: Path, name: str) -> None:
    """Letters that URLs treat specially included: what the console opens is what the agent was told."""
    state = tmp_path / name
    machine = laptop(state, None, window=None, overlap=None, model="offline:", capture=Regime.ADDRESS)
    settings = load(machine.variables({}, 8080), lambda uri: uri)
    state.mkdir()
    store_file(state).touch()

    place = place_of(Where(state))

    assert isinstance(place.audit, Path)
    assert (place.store, place.in_aws) == (settings.store, False)
    assert store_file(state) == state / "guard.db"
    with people_at(place) as people:
        assert list(people.waiting(1)) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]
    assert settings.audit is not None
    assert settings.audit.startswith("file:")


def test_a_folder_on_which_no_agent_worked_is_not_written(tmp_path: Path) -> None:
    """To look is not to make: the command that starts an agent is named."""
    with pytest.raises(ConsoleError, match=f"no agent has worked on {tmp_path} yet; start one: rastro dev --state"):
        place_of(Where(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_an_environment_is_found_by_its_discovery_document(cloud: Cloud) -> None:
    """Table, audit bucket, and the bucket of what is too long for the table."""
    cloud(parameter(DISCOVERY), unasked)

    assert place_of(Where(STATE, "prod")) == Place(
        "dynamodb://rastro-prod", "s3://audit-prod/audit/", "eu-central-1", "s3://archive-prod"
    )


@pytest.mark.parametrize("missing", ["table", "audit", "region", "archive"])
def test_a_document_of_an_older_stack_is_said(cloud: Cloud, missing: str) -> None:
    """The key that is not there, and what to do."""
    cloud(parameter({**DISCOVERY, missing: None}), unasked)

    with pytest.raises(ConsoleError, match=f"has no {missing}; deploy the environment again"):
        place_of(Where(STATE, "prod"))


@pytest.mark.parametrize(
    ("state", "environment", "option"),
    [
        (None, None, ""),
        (STATE, None, ""),
        (Path("/state/a b"), None, " --state '/state/a b'"),
        (None, "prod", " --environment prod"),
    ],
)
def test_a_printed_command_means_the_same_agent(state: Path | None, environment: str | None, option: str) -> None:
    """With what it has to say, and nothing where that is usual."""
    assert where(state, environment).option == option


def test_one_agent_is_named_at_a_time() -> None:
    """A folder and an environment name two; no command takes both."""
    with pytest.raises(BadInputError, match="allowed: one of them"):
        where(STATE, "prod")
    with pytest.raises(BadInputError, match="allowed: one of them"):
        counter(STATE, "prod", as_json=True)
