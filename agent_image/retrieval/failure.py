"""Name why a knowledge base or a store did not answer; what AWS clients raise is sorted into these names.

A message may hold the query or a document's words: the name leaves the process, the message never does.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    TokenRetrievalError,
)


class Failure(StrEnum):
    """Name why it did not answer."""

    THROTTLED = "throttled"
    ACCESS_DENIED = "access_denied"
    NOT_FOUND = "not_found"
    INVALID = "invalid"
    UNAVAILABLE = "unavailable"


AWS_ERRORS: Final = (BotoCoreError, ClientError)
"""All that a call of a boto3 client raises."""

_CREDENTIALS: Final = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError, TokenRetrievalError)

# DynamoDB answers 400 to everything and S3 throttles with 503: the service's code says more than the status.
_BY_CODE: Final[Mapping[str, Failure]] = MappingProxyType(
    {
        "ThrottlingException": Failure.THROTTLED,
        "ProvisionedThroughputExceededException": Failure.THROTTLED,
        "RequestLimitExceeded": Failure.THROTTLED,
        "ServiceQuotaExceededException": Failure.THROTTLED,
        "SlowDown": Failure.THROTTLED,
        "AccessDeniedException": Failure.ACCESS_DENIED,
        "ExpiredToken": Failure.ACCESS_DENIED,
        "ExpiredTokenException": Failure.ACCESS_DENIED,
        "UnrecognizedClientException": Failure.ACCESS_DENIED,
        "ResourceNotFoundException": Failure.NOT_FOUND,
    }
)
_BY_STATUS: Final[Mapping[int, Failure]] = MappingProxyType(
    {
        400: Failure.INVALID,
        401: Failure.ACCESS_DENIED,
        403: Failure.ACCESS_DENIED,
        404: Failure.NOT_FOUND,
        429: Failure.THROTTLED,
    }
)


def aws_code(error: BaseException) -> str | None:
    """Give the service's own code of a failed call; None where no service answered."""
    return error.response.get("Error", {}).get("Code") if isinstance(error, ClientError) else None


def aws_failure(error: BotoCoreError | ClientError) -> Failure:
    """Name why a call of a boto3 client failed."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return _BY_CODE.get(aws_code(error) or "", _BY_STATUS.get(status, Failure.UNAVAILABLE))
    if isinstance(error, _CREDENTIALS):
        return Failure.ACCESS_DENIED
    return Failure.INVALID if isinstance(error, ParamValidationError) else Failure.UNAVAILABLE
