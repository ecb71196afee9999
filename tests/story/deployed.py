"""Run the image as an environment runs it, on loopback: scripted model, knowledge base over S3, table and archive."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agent_image.contract import DISCOVERY_PREFIX, TELEMETRY_SWITCHES, Discovery, Regime
from tests.conftest import ROOT
from tests.e2e.image import Image
from tests.loopback.bedrock import Answer, Bedrock, ToolCall, speaking
from tests.loopback.denying import Denying
from tests.loopback.table import REGION, VARIABLES, client_at, make_bucket, make_table
from tests.story import shop

GROUP: Final = "/aws/bedrock-agentcore/runtimes/rastro_story-AbCdEf1234-live"
KNOWLEDGE_BASE: Final = "KB12345678"
SESSION: Final = "story-of-a-refund-000000000000000000"
ANSWER: Final = (
    "A refund is paid within fourteen days, in the way in which the order was paid [1]. For a reduced item it is "
    "store credit [2], above 500 BRL two people look at it first [3], and for a gift it goes to the one who gave it "
    "[4]."
)
PRICE: Final = {"input": 1, "output": 5, "source": "made up", "date": "2026-01-31"}
BINARIES: Final = ROOT / ".venv" / "bin"


def _retrieved(bucket: str) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "content": {"text": text},
            "location": {"type": "S3", "s3Location": {"uri": f"s3://{bucket}/policies/{name}"}},
            "score": 0.9 - position / 10,
        }
        for position, (name, text) in enumerate(shop.PASSAGES.items())
    ]


def _job(number: int) -> Mapping[str, Any]:
    ended = f"2026-11-{number:02}T08:00:00Z"
    return {
        "knowledgeBaseId": KNOWLEDGE_BASE,
        "dataSourceId": "DS1",
        "ingestionJobId": f"JOB{number:07}",
        "status": "COMPLETE",
        "startedAt": ended,
        "updatedAt": ended,
    }


@dataclass
class Deployed:
    """Hold an environment that answered a question.

    Attributes:
        gate: what stands before S3, to deny a document.
        spans: lines, as CloudWatch stores them.
        printed: what the agent wrote to its standard output.
    """

    aws: str
    gate: Denying
    bedrock: Bedrock
    regime: Regime
    spans: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name the environment, its table and its archive; a cloud holds one of each regime."""
        return f"story-{self.regime}"

    @property
    def documents(self) -> str:
        """Name the bucket of the documents."""
        return f"shop-{self.regime}"

    def variables(self) -> dict[str, str]:
        """Give what a process needs to take all this for AWS."""
        return {
            **VARIABLES,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.aws,
            "AWS_ENDPOINT_URL_S3": self.gate.url,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.bedrock.url,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": self.bedrock.url,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT": self.bedrock.url,
        }

    def answer(self, folder: Path) -> None:
        """Start the agent, ask it, and keep what it left."""
        spans = folder / "spans.jsonl"
        settings = {
            "environment": self.name,
            "region": REGION,
            "models": ["bedrock://anthropic.claude"],
            "knowledge_base": f"bedrock://{KNOWLEDGE_BASE}",
            "archive": f"s3://{self.name}",
            "store": f"dynamodb://{self.name}",
            "audit": f"s3://{self.name}-audit",
            "destination": f"file:{spans}",
            "guard": {"prices": {"anthropic.claude": PRICE}},
        }
        variables = {**TELEMETRY_SWITCHES[self.regime], **self.variables()}
        with Image(ROOT, BINARIES).running(settings, variables) as agent:
            reply = agent.post({"prompt": shop.QUESTION}, SESSION)
            assert reply.json()["status"] == "completed", reply.text
        self.spans = spans.read_text().splitlines()
        self.printed = agent.printed["stdout"].splitlines()

    def time_passes(self) -> None:
        """Re-index, edit one document, delete another, deny access to a third."""
        self.bedrock.jobs.insert(0, _job(2))
        s3 = client_at(self.aws, "s3")
        s3.put_object(Bucket=self.documents, Key=f"policies/{shop.CHANGED}", Body=shop.changed_document().encode())
        s3.delete_object(Bucket=self.documents, Key=f"policies/{shop.DELETED}")
        self.gate.denied.add(f"/policies/{shop.DENIED}")

    def discovery(self) -> dict[str, Any]:
        """Give the discovery document."""
        return {
            Discovery.ENVIRONMENT: self.name,
            Discovery.ACCOUNT_ID: "123456789012",
            Discovery.REGION: REGION,
            Discovery.CAPTURE: self.regime,
            Discovery.RUNTIME_ID: "rastro_story-AbCdEf1234",
            Discovery.RUNTIME_ARN: f"arn:aws:bedrock-agentcore:{REGION}:123456789012:runtime/rastro_story-AbCdEf1234",
            Discovery.ENDPOINT: "live",
            Discovery.LOG_GROUP: GROUP,
            Discovery.RETENTION_DAYS: 30,
            Discovery.INDEXED_FIELDS: [],
            Discovery.KNOWLEDGE_BASE: KNOWLEDGE_BASE,
            Discovery.TABLE: self.name,
            Discovery.ARCHIVE: self.name,
            Discovery.AUDIT: f"{self.name}-audit",
            Discovery.ALERTS: "",
        }


@contextmanager
def deployed(aws: str, gate: Denying, regime: Regime) -> Iterator[Deployed]:
    """Put up an environment in a cloud."""
    script = Bedrock(steps=(ToolCall("search_knowledge", {"query": "refunds"}), Answer(ANSWER)), jobs=[_job(1)])
    with speaking(script) as bedrock:
        place = Deployed(aws, gate, bedrock, regime)
        script.retrieve = lambda _: _retrieved(place.documents)
        make_table(aws, place.name)
        for bucket in (place.name, f"{place.name}-audit", place.documents):
            make_bucket(aws, bucket)
        s3 = client_at(aws, "s3")
        for name in shop.PASSAGES:
            s3.put_object(Bucket=place.documents, Key=f"policies/{name}", Body=shop.document(name).encode())
        client_at(aws, "ssm").put_parameter(
            Name=f"{DISCOVERY_PREFIX}{place.name}", Value=json.dumps(place.discovery()), Type="String"
        )
        yield place
