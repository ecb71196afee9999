"""State the options of a hook, a row each: who takes it, what it may be, and what holds where it is left out.

The reader of hook files checks by these rows; the JSON Schema and the table of the documentation are made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from agent_image.contract import Quantity
from agent_image.hooks.hook import TOOL_EVENTS, FailMode, HookEvent, HookType
from agent_image.hooks.matcher import MATCHER_LIMIT
from agent_image.hooks.shebang import SHEBANG_FORM

CODE_LIMIT: Final = 65_536
"""Bytes of a command or a script, in UTF-8."""
EVENTS: Final = frozenset(HookEvent)
TYPES: Final = frozenset(HookType)


class Option(StrEnum):
    """Name the options of a hook."""

    TYPE = "type"
    PROMPT = "prompt"
    MODEL = "model"
    COMMAND = "command"
    SCRIPT = "script"
    MATCHER = "matcher"
    TIMEOUT = "timeout"
    FAIL_MODE = "failMode"
    MAX_REJECTIONS = "maxRejections"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRow:
    """State one option.

    Attributes:
        meaning: what it does.
        form: what it may be, in words.
        default: what holds where it is left out, in words; empty where that is nothing.
        events: those whose hooks take it.
        types: those of the hooks that take it.
        required: it has to be there.
        one_of: options of which exactly one has to be there, this among them.
        choices: what it may be, where that is a list.
        quantity: its range, where it is a number.
        text_limit: bytes of the text; 0 for no limit but the file's.
    """

    key: Option
    meaning: str
    form: str
    default: str = ""
    events: frozenset[HookEvent] = EVENTS
    types: frozenset[HookType] = TYPES
    required: bool = False
    one_of: tuple[Option, ...] = ()
    choices: tuple[str, ...] = ()
    quantity: Quantity | None = None
    text_limit: int = 0


_TIMEOUT: Final = Quantity(
    key=Option.TIMEOUT,
    unit="s",
    meaning="How long the hook may take; then its whole process tree is ended, or its model no longer waited for.",
    minimum=Decimal(1),
    maximum=Decimal(300),
    whole=True,
    default=Decimal(30),
)
_MAX_REJECTIONS: Final = Quantity(
    key=Option.MAX_REJECTIONS,
    unit="rejections",
    meaning="How often Stop hooks may send one answer back; of several hooks the largest number holds.",
    minimum=Decimal(1),
    maximum=Decimal(25),
    whole=True,
)
FAIL_MODES: Final[Mapping[HookEvent, FailMode]] = MappingProxyType(
    {
        HookEvent.PRE_TOOL_USE: FailMode.BLOCK,
        HookEvent.POST_TOOL_USE: FailMode.ALLOW,
        HookEvent.STOP: FailMode.ALLOW,
    }
)
"""What a hook that fails counts as, where its file does not say."""
REJECTIONS: Final[Mapping[HookType, int]] = MappingProxyType({HookType.PROMPT: 3, HookType.COMMAND: 25})
"""How often a Stop hook may send an answer back, where its file does not say."""
_PROGRAM: Final = frozenset({HookType.COMMAND})
_MODEL: Final = frozenset({HookType.PROMPT})
_CODE: Final = (Option.COMMAND, Option.SCRIPT)

ROWS: Final = (
    OptionRow(
        key=Option.TYPE,
        meaning="What judges: a model, or a program.",
        form=", ".join(HookType),
        default=HookType.PROMPT,
        choices=tuple(HookType),
    ),
    OptionRow(
        key=Option.PROMPT,
        meaning="What the model is asked. $ARGUMENTS stands for the context; it is appended where that is absent.",
        form="a text",
        types=_MODEL,
        required=True,
    ),
    OptionRow(
        key=Option.MODEL,
        meaning="The name of the model that judges, as the settings list it.",
        form="a text",
        default="the agent's own",
        types=_MODEL,
    ),
    OptionRow(
        key=Option.COMMAND,
        meaning="One line for bash.",
        form=f"a text of {CODE_LIMIT:,} bytes or fewer",
        types=_PROGRAM,
        one_of=_CODE,
        text_limit=CODE_LIMIT,
    ),
    OptionRow(
        key=Option.SCRIPT,
        meaning="A script for bash or Python; its first line may say for which, and bash runs it where it does not.",
        form=f"a text of {CODE_LIMIT:,} bytes or fewer; {SHEBANG_FORM}",
        types=_PROGRAM,
        one_of=_CODE,
        text_limit=CODE_LIMIT,
    ),
    OptionRow(
        key=Option.MATCHER,
        meaning="Tools whose calls the hook sees: a regular expression over the whole name, case-sensitive; * for all.",
        form=f"* in quotes, or a regular expression of {MATCHER_LIMIT:,} characters or fewer",
        events=TOOL_EVENTS,
        required=True,
    ),
    OptionRow(
        key=Option.TIMEOUT,
        meaning=_TIMEOUT.meaning,
        form="a whole number of seconds, 1 to 300",
        default="30",
        quantity=_TIMEOUT,
    ),
    OptionRow(
        key=Option.FAIL_MODE,
        meaning="What a hook that fails counts as: it lets pass, or it refuses.",
        form=", ".join(FailMode),
        default="; ".join(f"{mode} for {event}" for event, mode in FAIL_MODES.items()),
        choices=tuple(FailMode),
    ),
    OptionRow(
        key=Option.MAX_REJECTIONS,
        meaning=_MAX_REJECTIONS.meaning,
        form="a whole number, 1 to 25",
        default="; ".join(f"{number} for {kind} hooks" for kind, number in REJECTIONS.items()),
        events=frozenset({HookEvent.STOP}),
        quantity=_MAX_REJECTIONS,
    ),
)
