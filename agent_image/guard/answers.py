"""Let others have a say before an answer is given: one that is refused goes back to the model, so often and no more."""

from __future__ import annotations

from dataclasses import replace

from agent_image.guard import sayings
from agent_image.guard.scenes import scene_of
from agent_image.guard.verdict import Say, contexts, judge
from agent_image.guard.watch import Severity
from agent_image.guard.work import Work


class Answers:
    """Judge the answers of one run."""

    def __init__(self, work: Work) -> None:
        """Take the run's bookkeeping."""
        self._work = work

    def begin(self) -> None:
        """Start to count: a person has asked something new."""
        if self._work.session.sent_back:
            self._work.lease.update(lambda session: replace(session, sent_back=0))

    def sent_back(self, answer: str) -> str | None:
        """Give the reason for which an answer goes back to the model; None for one that is given.

        Raises:
            AgentError: the reason cannot be written down, or the count not kept.
        """
        work, stages = self._work, self._work.guard.stages
        if not stages.stop:
            return None
        verdicts = judge(stages.stop, answer, scene_of(work))
        for verdict in verdicts:
            work.hooked(verdict)
        refusals = [verdict for verdict in verdicts if verdict.say is not Say.ALLOW]
        if not refusals:
            return None
        if work.session.sent_back >= stages.stop_rejections:
            # A check that is never content would spend the budget and give nothing.
            work.alert("answer_unchecked", Severity.WARNING, {"sent_back": work.session.sent_back})
            return None
        work.lease.update(lambda session: replace(session, sent_back=session.sent_back + 1))
        return sayings.sent_back((*(verdict.text for verdict in refusals), *contexts(verdicts)))
