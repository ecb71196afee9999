"""Find what became of a passage where it was read."""

from __future__ import annotations

from collections.abc import Mapping

from console.trace.facts import Facts
from console.trace.reads import Finding
from console.trace.resolve import Wanted
from console.trace.session import PassageRead, Retrieval


def finding_in(facts: Mapping[Wanted, Facts]) -> Finding:
    """Give the way to find the facts of a passage; what has no address has none."""

    def finding(retrieval: Retrieval, passage: PassageRead) -> Facts | None:
        if passage.address is None or not passage.uri:
            return None
        version, source = retrieval.index_version, retrieval.data_source
        return facts.get(Wanted(passage.address, passage.uri, passage.text, version, source))

    return finding
