"""Make a thousand scenarios: every regime under traffic, indexing, retention and masking of many sizes."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Final

from agent_image.contract import Regime
from benchmarks.process import ROOT
from cost_model.scenario import Scenario
from cost_model.sources import Overrides, regimes_scenario

ARTICLE: Final = ROOT / "cost_model" / "examples" / "article.toml"
_SESSIONS: Final = tuple(Decimal(10) ** power for power in range(4, 9))
_INDEXED: Final = tuple(map(Decimal, (0, 1, 5, 50, 100)))
_RETENTION: Final = tuple(map(Decimal, (7, 14, 30, 90, 365)))


def scenarios(usage: Path = ARTICLE) -> tuple[Scenario, ...]:
    """Vary the article's scenario, all else as it states."""
    stated = regimes_scenario(usage, Overrides())
    return tuple(
        Scenario(
            replace(
                stated.deployment, regime=regime, indexing_percentage=indexed, retention_days=days, masking=masking
            ),
            replace(stated.workload, sessions=sessions),
        )
        for regime, sessions, indexed, days, masking in product(Regime, _SESSIONS, _INDEXED, _RETENTION, (False, True))
    )
