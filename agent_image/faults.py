"""Turn what a run may raise into codes: what a caller and the trail may see of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from strands.types.exceptions import ContextWindowOverflowException, MaxTokensReachedException, ModelThrottledException

from agent_image.errors import AgentError

_RAISED: Final[Mapping[type[BaseException], AgentError]] = MappingProxyType(
    {
        ModelThrottledException: AgentError("model_throttled", "The model is busy. Try again in a moment."),
        ContextWindowOverflowException: AgentError(
            "context_too_long", "The conversation is too long for the model. Start a new session."
        ),
        MaxTokensReachedException: AgentError("answer_too_long", "The answer is longer than the model may write."),
        BotoCoreError: AgentError("model_unavailable", "The model cannot be reached."),
    }
)
_DENIED: Final = AgentError("model_access_denied", "The agent may not call this model.")
_UNAVAILABLE: Final = AgentError("model_unavailable", "The model cannot be reached.")
_CLIENT_ERRORS: Final[Mapping[str, AgentError]] = MappingProxyType(
    {
        "AccessDeniedException": _DENIED,
        "UnrecognizedClientException": _DENIED,
        "ExpiredTokenException": _DENIED,
        "ResourceNotFoundException": AgentError("model_not_found", "The model does not exist in this Region."),
        "ThrottlingException": _RAISED[ModelThrottledException],
        "ServiceQuotaExceededException": _RAISED[ModelThrottledException],
        "ValidationException": AgentError("model_refused", "The model refused the request as invalid."),
        "ModelTimeoutException": _UNAVAILABLE,
        "ModelNotReadyException": _UNAVAILABLE,
        "ServiceUnavailableException": _UNAVAILABLE,
        "InternalServerException": _UNAVAILABLE,
    }
)
_INTERNAL: Final = AgentError("internal", "The agent failed. The operator's log holds the place.")
FAULTS: Final = frozenset({*_RAISED.values(), *_CLIENT_ERRORS.values(), _INTERNAL})
"""All that a run may end with."""


def fault_of(error: BaseException) -> AgentError:
    """Find the code of what was raised; a framework may have wrapped the cause."""
    for raised in _chain(error):
        if isinstance(raised, AgentError):
            return raised
        if isinstance(raised, ClientError):
            return _CLIENT_ERRORS.get(raised.response.get("Error", {}).get("Code", ""), _UNAVAILABLE)
        for kind, fault in _RAISED.items():
            if isinstance(raised, kind):
                return fault
    return _INTERNAL


def _chain(error: BaseException) -> list[BaseException]:
    """List an error and its causes, each once."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain
