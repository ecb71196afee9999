"""Talk to the canary, and do in between what people do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import quote

from agent_image.contract import SESSION_HEADER, USER_HEADER, Choice, Status
from agent_image.guard.checkpoint import State
from console.approvals.deciding import Desk
from console.sse import parse
from tests.canary import scenes, script
from tests.canary.people import act_on
from tests.canary.scenes import Act, Ask, Decide, Resolve, Scene

SESSION: Final = "canary-" + "0" * 32
PATIENCE: Final = 60
JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"

Document = Mapping[str, Any]
_USUAL: Final[Mapping[str, Act]] = {
    State.PENDING: Decide(Choice.APPROVE, scenes.CONSENT),
    State.IN_DOUBT: Resolve(scenes.FINDING),
}
"""What people do where a scene says nothing."""


@dataclass(frozen=True)
class Caller:
    """Call the agent at a port; people stand at their desk."""

    port: int
    desk: Desk

    def all(self) -> None:
        """Say everything there is to say."""
        whole, streamed = script.TURNS
        for turn, accept in ((whole, JSON), (streamed, EVENTS)):
            closed = self._through(SESSION, f"{script.question(turn)}?", (), accept)
            assert str(script.answer(turn)) in closed["answer"]
        for scene in scenes.SCENES:
            self._play(scene)
        assert self._error({"prompt": f"{script.FAILED_QUESTION}?"}) == "model_refused"
        note = {"session_id": SESSION, "verdict": "bad", "note": str(script.NOTE)}
        assert self._ask(SESSION, {"feedback": note})["status"] == Status.COMPLETED
        assert self._error(f"{{{script.NO_JSON}") == "invalid_json"
        assert self._error({str(script.NO_KIND): str(script.NO_KIND)}) == "unknown_kind"
        assert self._ask(SESSION, {"sweep": True})["status"] == Status.COMPLETED

    def _play(self, scene: Scene) -> None:
        closed = self._through(scene.session, f"{scene.question}?", scene.acts, JSON)
        if scene.ends == Status.COMPLETED:
            assert str(scene.answer) in closed["answer"]
        else:
            assert closed["error"]["code"] == scene.ends

    def _through(self, session: str, prompt: str, acts: Iterable[Act], accept: str) -> Document:
        """Ask, and resume as often as people were asked."""
        waiting = iter(acts)
        closed = self._ask(session, {"prompt": prompt}, accept)
        while closed["status"] == Status.SUSPENDED:
            match next(waiting, _USUAL[closed["state"]]):
                case Ask(question):
                    refused = self._ask(session, {"prompt": str(question)}, accept)
                    assert refused["status"] == Status.SUSPENDED
                case act:
                    act_on(self.desk, act, closed["checkpoint_id"])
                    closed = self._ask(session, {"resume": closed["checkpoint_id"]}, accept)
        return closed

    def _error(self, body: Document | str) -> str:
        return str(self._ask(SESSION, body)["error"]["code"])

    def _ask(self, session: str, body: Document | str, accept: str = JSON) -> Document:
        headers = {
            SESSION_HEADER: session,
            USER_HEADER: quote(str(script.USER)),
            "Content-Type": "application/json",
            "Accept": accept,
            "User-Agent": quote(str(script.USER_AGENT)),
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "tracestate": f"canary={quote(str(script.TRACE_STATE))}",
            "baggage": f"canary={quote(str(script.BAGGAGE))}",
        }
        text = body if isinstance(body, str) else json.dumps(body)
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request("POST", f"/invocations?q={quote(str(script.QUERY_STRING))}", text.encode(), headers)
            answer = connection.getresponse().read()
        found = [event.data for event in parse([answer])][-1] if accept == EVENTS else answer
        document: Document = json.loads(found)
        return document
