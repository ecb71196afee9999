"""Share the service that stands in for Bedrock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agent_image.retrieval.bedrock_service import BedrockService, bedrock_service


@pytest.fixture
def bedrock() -> Iterator[BedrockService]:
    with bedrock_service() as service:
        yield service
