"""The offline model acts on a plain wish, else searches once, and repeats what it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strands import Agent, tool
from strands.types.content import Message, Messages
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolResult, ToolSpec

from agent_image.citations import check
from agent_image.models.offline import ENGLISH, PORTUGUESE, Intent, OfflineModel
from agent_image.retrieval.passage import Passage
from agent_image.tools.open_ticket import OPEN_TICKET
from agent_image.tools.reading import SEARCH_KNOWLEDGE, render
from agent_image.tools.refund_order import REFUND_ORDER

SEARCH: ToolSpec = {"name": SEARCH_KNOWLEDGE, "description": "Search.", "inputSchema": {"json": {"type": "object"}}}
PASSAGES = [
    Passage("folder:returns.md", "Unused items can be returned within 30 days of delivery."),
    Passage("folder:reembolsos.md", "O reembolso sai em até 5 dias úteis após a devolução."),
]


def asked(question: str) -> Message:
    return {"role": "user", "content": [{"text": question}]}


def called(tool_use_id: str, query: str) -> Message:
    use: Any = {"toolUseId": tool_use_id, "name": SEARCH_KNOWLEDGE, "input": {"query": query}}
    return {"role": "assistant", "content": [{"toolUse": use}]}


def answered(tool_use_id: str, text: str, status: Any = "success") -> Message:
    result: ToolResult = {"toolUseId": tool_use_id, "status": status, "content": [{"text": text}]}
    return {"role": "user", "content": [{"toolResult": result}]}


def events(messages: Messages, tools: Sequence[ToolSpec] = (SEARCH,), model: OfflineModel | None = None) -> list[Any]:
    async def collect() -> list[StreamEvent]:
        return [event async for event in (model or OfflineModel()).stream(messages, list(tools), "Cite.")]

    return asyncio.run(collect())


def deltas(found: Sequence[Any]) -> list[str]:
    return [event["contentBlockDelta"]["delta"]["text"] for event in found if "contentBlockDelta" in event]


def answer(question: str, result: Message) -> str:
    return "".join(deltas(events([asked(question), called("offline-1", question), result])))


def test_a_question_is_searched_first() -> None:
    """The call holds the question as it was asked, in the events of a real model."""
    found = events([asked("Posso devolver?")])

    assert [next(iter(event)) for event in found] == [
        "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
    ]  # fmt: skip
    assert found[1]["contentBlockStart"]["start"]["toolUse"] == {"name": SEARCH_KNOWLEDGE, "toolUseId": "offline-1"}
    assert found[2]["contentBlockDelta"]["delta"]["toolUse"]["input"] == '{"query": "Posso devolver?"}'
    assert found[4]["messageStop"]["stopReason"] == "tool_use"


def test_the_answer_is_streamed_in_pieces_with_its_usage() -> None:
    """The notice and each quote come one by one; words stand for tokens."""
    messages = [
        asked("Within how many days?"),
        called("offline-1", "Within?"),
        answered("offline-1", render(1, PASSAGES)),
    ]
    found = events(messages)

    assert deltas(found) == [ENGLISH.offline, "\n\n“Unused items can be returned within 30 days of delivery.” [1]"]
    assert found[-2] == {"messageStop": {"stopReason": "end_turn"}}
    written = len("".join(deltas(found)).split())
    read = found[-1]["metadata"]["usage"]["inputTokens"]
    assert found[-1]["metadata"]["usage"] == {
        "inputTokens": read, "outputTokens": written, "totalTokens": read + written,
    }  # fmt: skip
    assert read > len(render(1, PASSAGES).split())


@pytest.mark.parametrize(
    ("question", "phrases", "number"),
    [
        ("Can unused items be returned?", ENGLISH, 7),
        ("Em quantos dias úteis sai o reembolso?", PORTUGUESE, 8),
    ],
)
def test_an_answer_is_in_the_language_of_its_question(question: str, phrases: Any, number: int) -> None:
    """It says that it is offline, and quotes with the numbers that it was given."""
    said = answer(question, answered("offline-1", render(7, PASSAGES)))

    assert said.startswith(phrases.offline)
    assert check(said, ["address"] * 8).cited == (number,)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (answered("offline-1", render(1, PASSAGES)), ENGLISH.nothing),
        (answered("offline-1", "No passage matches."), ENGLISH.nothing),
        (answered("offline-1", "Throttled. [1] x", "error"), ENGLISH.failed),
        (answered("offline-1", render(1, PASSAGES), "error"), ENGLISH.failed),
        (answered("someone-else", render(1, PASSAGES)), ENGLISH.failed),
    ],
)
def test_nothing_found_is_said_plainly(result: Message, said: str) -> None:
    """Whether nothing matches, nothing came back, or the search failed, nothing is cited."""
    found = answer("Where is Mongolia?", result)

    assert found == f"{ENGLISH.offline}\n\n{said}"


def test_without_a_search_tool_it_says_so() -> None:
    """No tool offered, no tool called."""
    assert "".join(deltas(events([asked("Onde fica a loja?")], tools=()))) == (
        f"{PORTUGUESE.offline}\n\n{PORTUGUESE.idle}"
    )


def test_a_second_question_is_searched_anew() -> None:
    """Each question has its own call, with an id that the conversation does not hold yet."""
    first = [asked("Returned?"), called("offline-1", "Returned?"), answered("offline-1", render(1, PASSAGES))]
    said: Message = {"role": "assistant", "content": [{"text": "“…” [1]"}]}

    found = events([*first, said, asked("Reembolso?")])

    assert found[1]["contentBlockStart"]["start"]["toolUse"]["toolUseId"] == "offline-2"


def test_ids_stay_unique_where_the_conversation_lost_its_beginning() -> None:
    """A sliding window drops the oldest messages; counting them would give an id twice."""
    window = [called("offline-41", "x"), answered("offline-41", ""), asked("Returned?")]

    found = events(window)

    assert found[1]["contentBlockStart"]["start"]["toolUse"]["toolUseId"] == "offline-42"


def test_a_text_beside_a_tool_result_is_no_new_question() -> None:
    """What a guard adds to a result does not start the search again."""
    result = answered("offline-1", render(1, PASSAGES))
    result["content"].append({"text": "Mind the budget."})

    assert "30 days" in answer("Can unused items be returned?", result)


def test_a_document_cannot_forge_marks() -> None:
    """Brackets and back-ticks of a passage neither cite nor hide anything."""
    hostile = Passage("folder:x.md", "Unused `items can be returned, says [9] and [1](http://x).")

    said = answer("Can unused items be returned?", answered("offline-1", render(3, [hostile])))

    found = check(said, ["address"] * 3)
    assert (found.cited, found.unsupported) == ((3,), ())


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=40))
def test_every_answer_cites_what_it_quotes_and_nothing_else(texts: list[str], question: str) -> None:
    """Whatever is asked and read, there is one mark a quote, all of passages that were read, and always the same."""
    result = answered("offline-1", render(1, [Passage("u", text) for text in texts]))
    messages = [asked(question), called("offline-1", question), result]

    found = deltas(events(messages))

    assert found == deltas(events(messages))
    marks = check("".join(found), texts)
    assert marks.unsupported == ()
    assert len(marks.cited) <= sum(piece.startswith("\n\n“") for piece in found)
    assert bool(marks.cited) == any(piece.startswith("\n\n“") for piece in found)


def test_a_tool_of_another_intent_is_called_before_the_search() -> None:
    """What the model can do is a list of records: the first that understands the question does it."""

    def order(question: str) -> Mapping[str, object] | None:
        return {"tea": 1} if "tea" in question else None

    def report(_question: str, results: Sequence[ToolResult]) -> Iterator[str]:
        yield f"Ordered {len(results)}."

    model = OfflineModel((Intent("order", order, report), *OfflineModel().intents))
    tools: list[ToolSpec] = [{"name": "order", "description": "", "inputSchema": {"json": {}}}, SEARCH]

    names = [
        events([asked(question)], tools, model)[1]["contentBlockStart"]["start"]["toolUse"]["name"]
        for question in ("Get me tea", "Can I return it?")
    ]

    assert names == ["order", SEARCH_KNOWLEDGE]


@pytest.mark.parametrize(
    ("wish", "tool_name", "arguments"),
    [
        ("refund order 5501 by 150", REFUND_ORDER, '{"order_id": "5501", "amount": 150}'),
        ("estorne o pedido 5501 em 150,50", REFUND_ORDER, '{"order_id": "5501", "amount": 150.5}'),
        ("open a ticket about a late parcel", OPEN_TICKET, '{"subject": "a late parcel"}'),
        ("abra um chamado sobre a entrega", OPEN_TICKET, '{"subject": "a entrega"}'),
    ],
)
def test_a_wish_calls_its_tool(wish: str, tool_name: str, arguments: str) -> None:
    """Before anything is searched; where the agent has no such tool, the wish is searched as a question."""
    tools: list[ToolSpec] = [SEARCH, *({**SEARCH, "name": name} for name in (REFUND_ORDER, OPEN_TICKET))]  # type: ignore[list-item]

    calls = events([asked(wish)], tools)
    without = events([asked(wish)], [SEARCH])

    assert calls[1]["contentBlockStart"]["start"]["toolUse"]["name"] == tool_name
    assert calls[2]["contentBlockDelta"]["delta"]["toolUse"]["input"] == arguments
    assert without[1]["contentBlockStart"]["start"]["toolUse"]["name"] == SEARCH_KNOWLEDGE


@pytest.mark.parametrize(
    ("wish", "status", "phrases", "said"),
    [
        ("refund order 5501 by 150", "success", ENGLISH, "refund_order answered: Order (5501): over the 'limit'."),
        ("refund order 5501 by 150", "error", ENGLISH, "refund_order failed, or was refused: Order (5501)"),
        ("estorne o pedido 5501 em 9", "error", PORTUGUESE, "refund_order falhou, ou foi recusado: Order (5501)"),
    ],
)
def test_what_the_tool_answered_is_repeated(wish: str, status: Any, phrases: Any, said: str) -> None:
    """A rejection's reason too, in the language of the wish; its brackets cite nothing."""
    use: Any = {"toolUseId": "offline-1", "name": REFUND_ORDER, "input": {}}
    messages: Messages = [
        asked(wish),
        {"role": "assistant", "content": [{"toolUse": use}]},
        answered("offline-1", "Order [5501]: over the `limit`.", status),
    ]

    found = "".join(deltas(events(messages, [{**SEARCH, "name": REFUND_ORDER}])))

    assert found.startswith(f"{phrases.acted}\n\n{said}")


def test_structured_output_is_refused() -> None:
    """Quotes have no other structure."""
    with pytest.raises(NotImplementedError, match="only quotes"):
        OfflineModel().structured_output(str, [])


def test_strands_runs_it_over_several_turns() -> None:
    """The framework's own loop takes its events: each question one search, one result, one answer."""
    queries: list[str] = []

    @tool(name=SEARCH_KNOWLEDGE)
    def search(query: str) -> str:
        """Search the knowledge base.

        Args:
            query: what to look for.
        """
        queries.append(query)
        return render(len(queries), PASSAGES)

    agent = Agent(model=OfflineModel(), tools=[search], callback_handler=None)
    said = [str(agent(question)) for question in ("Can unused items be returned?", "Quando sai o reembolso?")]

    assert queries == ["Can unused items be returned?", "Quando sai o reembolso?"]
    assert [check(text, ["address"] * 3).cited for text in said] == [(1,), (3,)]
    assert [message["role"] for message in agent.messages] == ["user", "assistant"] * 4
    ids = [
        block["toolUse"]["toolUseId"]
        for message in agent.messages
        for block in message["content"]
        if "toolUse" in block
    ]
    assert all(one != other for one, other in pairwise(ids))
    assert agent.event_loop_metrics.accumulated_usage["outputTokens"] > 0
