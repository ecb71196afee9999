"""Build findings as the command does, under prices and a day that do not move."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from agent_image.contract import Regime
from cost_model.deployment import Deployment, read_deployment
from cost_model.documents import read_toml
from cost_model.prices import load_prices
from cost_model.report.chapters import report
from cost_model.report.findings import Findings, find
from cost_model.report.page import page
from cost_model.scenario import Scenario
from cost_model.session_sizes import load_session_sizes
from cost_model.workload import Workload, read_workload
from tests.cost_model.conftest import ARTICLE, TODAY

EVIL = "</title></style><script>alert(1)</script>\"'> {{ 7 * 7 }} $x$ & \u202e\x1b[2J"


def article(regime: Regime | None = Regime.ARCHIVE) -> Scenario:
    document = read_toml(ARTICLE)
    deployment = read_deployment(document["deployed"], "article")
    return Scenario(replace(deployment, regime=regime), read_workload(document["usage"], "article"))


def unknown() -> Scenario:
    """Return a scenario of which nobody said anything."""
    return Scenario(Deployment("us-east-1", environment="dark"), Workload())


def evil() -> Scenario:
    """Return one whose names are meant to leave their place."""
    found = article()
    queries = tuple(replace(query, name=EVIL) for query in found.workload.queries or ())
    deployment = replace(found.deployment, environment=EVIL, assumptions=(EVIL,))
    return Scenario(deployment, replace(found.workload, queries=queries))


def findings(*scenarios: Scenario) -> Findings:
    return find(scenarios, load_prices(), TODAY, load_session_sizes())


@cache
def article_page() -> str:
    return page(report(findings(article())))


def written(*scenarios: Scenario) -> str:
    return page(report(findings(*scenarios)))
