"""No shipped mask covers the envelope of a golden span: what is masked is personal data, never the trail."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_image.contract import Span
from stacks.observability import masking
from stacks.observability.envelope import ENVELOPE
from stacks.observability.identifiers import MANAGED_IDENTIFIERS
from stacks.settings.load import load
from stacks.settings.model import Masking
from tests.stacks.settings.folder import SHIPPED
from tests.stacks.settings.shapes import SHAPES

SPANS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "golden_span.json").read_text(encoding="utf-8"))
ADDRESS = re.compile(r"[^#]+#[A-Za-z0-9_-]{24}\.[1-9][0-9]*")


def _as_stored(span: dict[str, Any]) -> str:
    """Write a span as the log group holds it, on one line."""
    return json.dumps(span, ensure_ascii=False, separators=(",", ":"))


TEXTS = {**{span["name"]: _as_stored(span) for span in SPANS}, "envelope": "\n".join(text for _, text in ENVELOPE)}


def _maskings() -> dict[str, Masking]:
    settings = load(SHIPPED)
    accounts = {f"accounts/{account.alias}": account.declared.masking for account in settings.accounts}
    return accounts | {each.name: each.declared.observability.masking for each in settings.environments}


MASKINGS = _maskings()
IDENTIFIERS = sorted({identifier for masking in MASKINGS.values() for identifier in masking.identifiers})
PATTERNS = sorted({pair for masking in MASKINGS.values() for pair in masking.patterns.items()})


def test_every_shipped_identifier_has_a_shape() -> None:
    """An identifier that the shipped files use is tested below, whichever it is."""
    missing = sorted(set(IDENTIFIERS) - set(SHAPES))
    assert missing == [], f"say in SHAPES of tests/stacks/settings/shapes.py what may match: {missing}"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_no_shipped_identifier_masks_the_trail(identifier: str, text: str) -> None:
    """No shipped managed identifier, at its widest, matches times, ids, ARNs, scores or addresses."""
    assert list(SHAPES[identifier].matches(text)) == []


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(("name", "regex"), PATTERNS)
def test_no_shipped_pattern_masks_the_trail(name: str, regex: str, text: str) -> None:
    """No shipped custom pattern matches times, ids, ARNs, scores or addresses."""
    assert re.findall(regex, text) == [], f"{name} would mask the trail"


@pytest.mark.parametrize("identifier", SHAPES)
@pytest.mark.parametrize("span", SPANS, ids=lambda span: span["name"])
def test_each_shape_finds_a_planted_example(identifier: str, span: dict[str, Any]) -> None:
    """Personal data planted in a golden span is found: the shapes are not blind."""
    shape = SHAPES[identifier]
    planted = {**span, "attributes": {**span["attributes"], Span.ANSWER_TEXT: shape.example}}
    assert list(shape.matches(_as_stored(planted)))


@pytest.mark.parametrize("identifier", sorted(name for name, shape in SHAPES.items() if shape.keywords))
def test_a_keyword_further_than_30_characters_names_nothing(identifier: str) -> None:
    """The same value with its keyword 31 characters away is not found: CPF and cards need their word close by."""
    shape = SHAPES[identifier]
    (value, *_) = shape.matches(shape.example)
    assert list(shape.matches(f"{shape.keywords[0]}{'#' * 31}{value}")) == []
    assert value in shape.matches(f"{shape.keywords[0]}{'#' * 20}{value}")


def test_the_shipped_pattern_finds_a_cpf_by_its_punctuation_alone() -> None:
    """A CPF written with its punctuation is found without any keyword; eleven bare digits are not."""
    (regex,) = {regex for name, regex in PATTERNS if name == "bare-cpf"}
    assert re.findall(regex, "sou eu, 529.982.247-25, obrigada") == ["529.982.247-25"]
    assert re.findall(regex, "52998224725") == []


def test_every_masked_environment_has_the_bare_cpf_pattern() -> None:
    """The managed CPF identifier misses a CPF without its word: wherever it is shipped, the pattern is too."""
    lacking = [
        name
        for name, masking in MASKINGS.items()
        if "CpfCode-BR" in masking.identifiers and "bare-cpf" not in masking.patterns
    ]
    assert lacking == []


def test_the_golden_spans_hold_the_whole_envelope() -> None:
    """The golden spans are no easy prey: they carry every name of the address regime, with ids, times and ARNs."""
    names = {name for span in SPANS for name in span["attributes"]}
    assert names >= {Span.SESSION, Span.DOCUMENTS, Span.BASE, Span.INDEX_VERSION, Span.RUN, Span.CITED, Span.ANSWER}
    assert names.isdisjoint({Span.QUESTION, Span.ANSWER_TEXT})
    documents = [
        json.loads(span["attributes"][Span.DOCUMENTS]) for span in SPANS if Span.DOCUMENTS in span["attributes"]
    ]
    assert documents
    assert all(ADDRESS.fullmatch(document["id"]) for each in documents for document in each)
    for span in SPANS:
        assert re.fullmatch("[0-9a-f]{32}", span["traceId"])
        assert re.fullmatch("[0-9a-f]{16}", span["spanId"])
        assert span["endTimeUnixNano"] - span["startTimeUnixNano"] == span["durationNano"]
        assert span["resource"]["attributes"]["cloud.resource_id"].startswith("arn:aws:bedrock-agentcore:")


def test_the_longest_document_that_settings_allow_fits_its_limit() -> None:
    """Every identifier and ten patterns of the longest name and form: AWS takes 30,720 characters."""
    patterns = {f"{'n' * 127}{number}": "Q" * 200 for number in range(10)}

    document = masking.document(
        name="rastro-" + "e" * 32, partition="aws-us-gov", identifiers=sorted(MANAGED_IDENTIFIERS), patterns=patterns
    )

    assert document is not None
    assert len(masking.rendered(document)) <= 30_720
