"""Build scenarios and small synthesised folders by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cost_model.deployment import read_deployment
from cost_model.documents import read_toml
from cost_model.freshness import digest_of
from cost_model.prices import PriceBook, load_prices
from cost_model.scenario import Scenario
from cost_model.workload import read_workload

ARTICLE = Path(__file__).parents[2] / "cost_model" / "examples" / "article.toml"
TODAY = date(2026, 11, 30)

USAGE = """
[usage]
sessions = 1_000_000
spans_per_session = 8
passages_per_session = 10
distinct_passages = 200_000
passage_kb = 3.5

[usage.kb_per_session]
metadata = 9.6
address = 20
content = 85

[usage.event_kb_per_session]
metadata = 4
address = 4
content = 5

[[usage.queries]]
name = "open one session"
runs_per_month = 470
window_days = 30
indexed = true

[[usage.queries]]
name = "full scan"
runs_per_month = 30
window_days = 30
indexed = false
"""


@pytest.fixture(scope="session")
def prices() -> PriceBook:
    """Load the shipped price book once."""
    return load_prices()


@pytest.fixture(scope="session")
def article() -> Scenario:
    """Read the reference article's scenario."""
    document = read_toml(ARTICLE)
    return Scenario(read_deployment(document["deployed"], "article"), read_workload(document["usage"], "article"))


def agent_document(**changes: Any) -> dict[str, Any]:
    """Return the agent stack as the kit synthesises it, as far as a price depends on it."""
    group = {
        "name": "/aws/bedrock-agentcore/runtimes/${aws_bedrockagentcore_agent_runtime.runtime.agent_runtime_id}-live",
        "retention_in_days": changes.get("retention", 30),
        "log_group_class": "STANDARD",
    }
    resource = {
        "aws_bedrockagentcore_agent_runtime": {
            "runtime": {"environment_variables": {"RAG_CAPTURE": changes.get("regime", "address")}}
        },
        "aws_cloudwatch_log_group": {"trail": group},
    }
    if changes.get("masking", True):
        policy = {"log_group_name": "${aws_cloudwatch_log_group.trail.name}", "policy_document": "{}"}
        resource["aws_cloudwatch_log_data_protection_policy"] = {"masking": policy}
    return {
        "//": {"metadata": {"backend": "local"}},
        "provider": {"aws": [{"region": changes.get("region", "us-east-1")}]},
        "resource": resource,
    }


def account_document(indexing: object = 1) -> dict[str, Any]:
    """Return the account stack as the kit synthesises it, as far as a price depends on it."""
    rule = {"name": "Default", "rule": [{"probabilistic": [{"desired_sampling_percentage": indexing}]}]}
    return {
        "provider": {"aws": [{"region": "us-east-1"}]},
        "resource": {"aws_xray_indexing_rule": {"default": rule}},
    }


@dataclass
class Synthesis:
    """Hold a synthesised folder and the settings it was made from."""

    root: Path
    stacks: dict[str, dict[str, Any]] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)

    @property
    def out(self) -> Path:
        """Name the synthesised folder."""
        return self.root / "cdktf.out"

    @property
    def settings(self) -> Path:
        """Name the settings folder."""
        return self.root / "environments"

    def set_file(self, name: str, text: str) -> Path:
        """Write one settings file."""
        path = self.settings / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def add_environment(self, name: str, *, indexing: object = 1, **changes: Any) -> None:
        """Add an environment of ours, with its account and its settings files."""
        files = {f"{name}.toml": USAGE, "accounts/sandbox.toml": 'region = "us-east-1"\n'}
        digests = {file: digest_of(self.set_file(file, text).read_bytes()) for file, text in files.items()}
        self.stacks[f"agent-{name}"] = {**agent_document(**changes), "locals": {"rastro_settings": digests}}
        self.stacks["account-sandbox"] = account_document(indexing)
        self.needs[f"agent-{name}"] = ["account-sandbox"]

    def write(self) -> Path:
        """Write the folder as the framework does, and return it."""
        entries = {}
        for name, document in self.stacks.items():
            relative = f"stacks/{name}/cdk.tf.json"
            path = self.out / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(document), encoding="utf-8")
            entries[name] = {
                "name": name,
                "synthesizedStackPath": relative,
                "dependencies": self.needs.get(name, []),
            }
        manifest = json.dumps({"version": "0.21.0", "stacks": entries})
        (self.out / "manifest.json").write_text(manifest, encoding="utf-8")
        return self.out


@pytest.fixture
def synthesis(tmp_path: Path) -> Synthesis:
    """Start an empty synthesis in a folder of its own."""
    return Synthesis(tmp_path)
