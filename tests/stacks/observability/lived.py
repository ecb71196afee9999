"""Live a day of an agent: the image's own process over a scripted model, and the trail that it leaves.

Each session does one thing, and is named after it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agent_image.contract import TELEMETRY_SWITCHES, Choice, HookSetting, Regime, Setting, Verdict
from agent_image.guard.checkpoint import Decision
from agent_image.guard.people import PeopleStore
from agent_image.guard_of import now
from agent_image.stores.by_url import records_at
from tests.conftest import ROOT
from tests.e2e.image import Agent, Image, local
from tests.loopback.bedrock import Answer, Bedrock, Refusal, Step, ToolCall, speaking
from tests.loopback.insights import Insights
from tests.loopback.table import REGION, VARIABLES

KNOWLEDGE_BASE: Final = "KB12345678"
MODEL: Final = "anthropic.claude"
ANSWER: Final = (
    "A refund is paid within fourteen days, in the way in which the order was paid [1]. It is never paid in money to "
    "anybody else than the one who paid, and for a gift it goes to the one who gave it, whatever the card may say."
)
PASSAGES: Final = (
    "A refund is paid within fourteen days, in the way in which the order was paid.",
    "A refund of a gift goes to the one who gave it, unless the card says something else.",
)
BUDGET_STEPS: Final = 10
"""Steps after which a session asks whether it may go on."""
SEARCHES: Final = 6
"""Searches of the session that goes on beyond them: each is a step, and so is the model's call for it."""


def _search(query: str) -> ToolCall:
    # The same one again and again is a circle, and ends before anybody is asked about a budget.
    return ToolCall("search_knowledge", {"query": query})


_SEARCH: Final = _search("refunds")
_REFUND: Final = ToolCall("refund_order", {"order_id": "5501", "amount": 150})
_HOOKS: Final = {
    "hooks": {
        "PreToolUse": [
            {
                "type": "command",
                "matcher": "open_ticket",
                "command": "if grep -q forbidden; then echo 'not this one' >&2; exit 2; fi",
            }
        ]
    }
}


def session(deed: str) -> str:
    """Name the session that does this."""
    return f"session-that-{deed}-".ljust(40, "0")


@dataclass
class Lived:
    """Hold the agent, what its model says, and what it left."""

    folder: Path
    bedrock: Bedrock
    spans: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    passages: Sequence[str] = PASSAGES

    def settings(self, image: Image) -> Mapping[str, Any]:
        """Give the settings document."""
        hooks = self.folder / "hooks.yaml"
        hooks.write_text(json.dumps(_HOOKS))
        price = {"input": 1, "output": 5, "source": "made up", "date": "2026-01-31"}
        return local(
            image,
            self.folder,
            models=[f"bedrock://{MODEL}"],
            region=REGION,
            knowledge_base=f"bedrock://{KNOWLEDGE_BASE}",
            guard={"prices": {MODEL: price}, "budget_steps": BUDGET_STEPS},
            **{Setting.HOOKS: {HookSetting.AGENT: f"file:{hooks}"}},
        )

    def retrieve(self, _: str) -> Sequence[Mapping[str, Any]]:
        """Give what the knowledge base holds now."""
        return [
            {
                "content": {"text": text},
                "location": {"type": "S3", "s3Location": {"uri": f"s3://shop/policies/{number}.md"}},
                "score": 0.9 - number / 10,
            }
            for number, text in enumerate(self.passages)
        ]

    def reindex(self, number: int) -> None:
        """End an ingestion job."""
        ended = f"2026-11-{number:02}T08:00:00Z"
        job = {"knowledgeBaseId": KNOWLEDGE_BASE, "dataSourceId": "DS1", "ingestionJobId": f"JOB{number:07}"}
        self.bedrock.jobs.insert(0, {**job, "status": "COMPLETE", "startedAt": ended, "updatedAt": ended})

    def live(self, agent: Agent) -> None:
        """Do one thing in each session."""
        self._ask(agent, "answers", _SEARCH, Answer(ANSWER))
        self._ask(agent, "fails-at-a-tool", ToolCall("open_ticket", {"subject": " "}), Answer("No ticket was opened."))
        self._ask(agent, "is-hooked", ToolCall("open_ticket", {"subject": "forbidden"}), Answer("I may not."))
        self._ask(agent, "loops", ToolCall("open_ticket", {"subject": " "}))
        self._ask(agent, "fails", Refusal(403, "AccessDeniedException", "no access"))
        self._ask(agent, "waits", _REFUND, Answer("It is paid."))
        decided: tuple[tuple[str, Choice, tuple[Step, ...]], ...] = (
            ("is-refused", Choice.REJECT, (_REFUND, Answer("It is not paid."))),
            ("is-allowed", Choice.APPROVE, (_REFUND, Answer("It is paid."))),
            ("goes-on", Choice.APPROVE, (*(_search(f"refunds {n}") for n in range(SEARCHES)), Answer("That is all."))),
        )
        for deed, choice, steps in decided:
            asked = self._ask(agent, deed, *steps)
            self._decide(asked["checkpoint_id"], choice)
            agent.post({"resume": asked["checkpoint_id"]}, session(deed))
        for deed, verdict in (("answers", Verdict.BAD), ("is-allowed", Verdict.GOOD)):
            judged = {"session_id": session(deed), "verdict": verdict, "note": "wrong"}
            agent.post({"feedback": judged}, session(deed))

    def lose(self, agent: Agent) -> None:
        """Read passages that are new, of an index that is new, with an archive that takes nothing."""
        shutil.rmtree(self.folder / "archive")
        (self.folder / "archive").write_text("no folder")
        self.passages = ("What is new is in no archive yet.",)
        self._ask(agent, "loses", _SEARCH, Answer("It is new [1]."))

    def _ask(self, agent: Agent, deed: str, *steps: Step) -> dict[str, Any]:
        self.bedrock.steps = steps
        document: dict[str, Any] = agent.post({"prompt": "How is a refund paid?"}, session(deed)).json()
        return document

    def _decide(self, checkpoint_id: str, choice: Choice) -> None:
        with closing(records_at(f"sqlite:///{self.folder}/guard.db", None)) as records:
            decision = Decision(checkpoint_id=checkpoint_id, choice=choice, approver="somebody", at=now())
            PeopleStore(records).decide(decision)

    def stored(self, group: str) -> Insights:
        """Put the trail into Logs Insights."""
        insights = Insights()
        insights.put_spans(group, self.spans)
        insights.put_events(group, self.printed)
        return insights


@contextmanager
def lived(folder: Path) -> Iterator[Lived]:
    """Live the day: once the agent has ended, all its lines are there."""
    bedrock = Bedrock(steps=())
    with speaking(bedrock):
        day = Lived(folder, bedrock)
        bedrock.retrieve = day.retrieve
        image = Image(ROOT, ROOT / ".venv" / "bin")
        variables = {
            **TELEMETRY_SWITCHES[Regime.ARCHIVE],
            **VARIABLES,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": bedrock.url,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": bedrock.url,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT": bedrock.url,
        }
        for number, deeds in ((1, day.live), (2, day.lose)):
            day.reindex(number)
            with image.running(day.settings(image), variables) as agent:
                deeds(agent)
            day.printed += agent.printed["stdout"].splitlines()
        day.spans = (folder / "spans.jsonl").read_text().splitlines()
        yield day
