"""Check what the trail holds of a question: a word that nobody else knows, asked and looked for in every form."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from typing import Final

from agent_image.contract import Regime
from console.doctor.account import Account, Heard
from console.doctor.check import Check, Result, could_not, fault, ok, skipped, unknown
from console.doctor.command import ask, deploy, rastro
from console.doctor.declared import Declared

COST: Final = (
    "The canary asks the agent one short question, in a session of its own: its model's tokens are charged, usually "
    "less than a cent, and the session's spans are ingested. It waits up to three minutes for them."
)
"""What it costs, said before it is done."""
_SHORTEST: Final = 8


def question(word: str) -> str:
    """Write the question that carries the word."""
    return f"This is a check of the trail. Answer with the one word: ready. Do not repeat this one: {word}"


def forms(word: str) -> tuple[str, ...]:
    """Give the word as it may lie in a log: plain, in capitals, reversed, in hexadecimal and in base64.

    In base64 a word looks one of three ways, by where it begins in what was encoded; its edges depend on its
    neighbours and are left out.
    """
    found = [word, word.upper(), word[::-1], word.encode().hex()]
    for before in range(3):
        encoded = b64encode(b"\0" * before + word.encode()).decode()
        first = -(-before * 8 // 6)
        found.append(encoded[first : (before + len(word)) * 8 // 6])
    return tuple(one for one in dict.fromkeys(found) if len(one) >= _SHORTEST)


def judge(declared: Declared, account: Account) -> Result:
    """Compare where the word was found with what the regime lets the trail hold."""
    heard = account.heard
    if heard is None:
        return skipped("not asked for: --canary asks the agent a question, which costs its model's tokens")
    if heard.failed is not None:
        return unknown(
            f"the agent did not answer: {heard.failed}", mend=("ask it yourself",), commands=(ask(declared),)
        )
    if heard.hits is None:
        return could_not(heard.search) if heard.search else unknown("the group could not be searched")
    if declared.regime is Regime.CONTENT and declared.to_cloudwatch:
        return _held_once(declared, heard, heard.hits)
    return _held_nowhere(declared, heard, heard.hits)


def _held_nowhere(declared: Declared, heard: Heard, hits: tuple[str, ...]) -> Result:
    if hits:
        return fault(
            f"the question is in the trail, and the regime {declared.regime} holds none",
            found=_streams(hits),
            wanted=(f"no word of the question in any stream of {declared.log_group}",),
            mend=(
                "look at the events: the attribute or the line that holds it tells who wrote it",
                f"observability.capture and the environment's variables as declared: {deploy(declared)}",
            ),
            commands=(rastro(declared, "trace", "--session", heard.session_id),),
        )
    if not heard.arrived:
        return _late(declared, heard)
    return ok(f"a question was asked, its spans came, and no word of it is in the trail (session {heard.session_id})")


def _held_once(declared: Declared, heard: Heard, hits: tuple[str, ...]) -> Result:
    if len(hits) == 1:
        return ok(f"the question is in the trail once, as the regime {declared.regime} says ({hits[0]})")
    if not hits and not heard.arrived:
        return _late(declared, heard)
    return fault(
        f"the regime {declared.regime} holds the question once"
        + (", and it is not in the trail" if not hits else f", and {len(hits)} events hold it"),
        found=_streams(hits) or ("no event holds it",),
        wanted=("one event: the span of the invocation",),
        mend=(f"observability.capture and the environment's variables as declared: {deploy(declared)}",),
        commands=(rastro(declared, "trace", "--session", heard.session_id),),
    )


def _late(declared: Declared, heard: Heard) -> Result:
    return unknown(
        f"no span of the session {heard.session_id} came within {heard.waited_seconds} s: what they hold is not known",
        mend=("look at the other checks; where they are right, ask again",),
        commands=(rastro(declared, "doctor", "--canary"),),
    )


def _streams(hits: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"stream {stream}: {count} events" for stream, count in Counter(hits).items())


CHECK: Final = Check(
    name="canary",
    looks_at="every stream of the live group, for a word of a question that the doctor asked itself (--canary)",
    why="That no text is in the trail is promised by switches; here it is seen.",
    run=judge,
)
