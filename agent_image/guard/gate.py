"""Let a tool call through, hold it, or turn it away: the one way from what a model wants to what happens.

Rules, checks, detectors, budget and people are asked in this order, and checks once more before an approved call runs.
Whatever cannot be asked, written or read ends the run: nothing happens unrecorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from agent_image.contract import Level, Ruling, Zone
from agent_image.errors import AgentError
from agent_image.guard import sayings
from agent_image.guard.budget import Over
from agent_image.guard.canonical import NotCanonical, canonical
from agent_image.guard.carrying import Admitted, Approved, Carrying, price_of
from agent_image.guard.checkpoint import Action, Call, Case, State
from agent_image.guard.checks import Asked, Checks
from agent_image.guard.claims import Claims
from agent_image.guard.endings import LOOP, NOT_RUN, REPEATED, RULINGS, Answered, Endings
from agent_image.guard.findings import Anomaly
from agent_image.guard.hearing import heard
from agent_image.guard.opening import opened
from agent_image.guard.policy import Classified
from agent_image.guard.sayings import ToolResult
from agent_image.guard.schema import misfits
from agent_image.guard.spending import Spending
from agent_image.guard.verdict import HOOK_ASKED, HOOK_EDITED, Say, Verdict, contexts, refusals
from agent_image.guard.watch import Remedy, fingerprint
from agent_image.guard.work import Work, going_in_circles

NOBODYS: Final = "unknown"
"""What stands for a tool's name that only the model knows."""


class Gate:
    """Judge the tool calls of one run."""

    def __init__(self, work: Work, spending: Spending) -> None:
        """Take the run's bookkeeping and its account."""
        self._work = work
        self._spending = spending
        self._claims = Claims(work)
        self._checks = Checks(work)
        self._endings = Endings(work, self._claims)
        self._carrying = Carrying(work, spending, self._claims)

    def admit(self, call: Call) -> Admitted | Answered:
        """Decide on a call.

        Raises:
            Suspended: a person has to speak first.
            AgentError: the run cannot go on; nothing ran.
        """
        try:
            asked = self._bound(call)
        except NotCanonical as error:
            return self._heard(self._endings.refused(call, Zone.RED, error.message, error.code))
        return self._kept(call, self._heard(self._taken_up(asked) or self._judged(asked)))

    def withdraw(self, admitted: Admitted) -> None:
        """Take back what was let through and has not begun: the caller hung up in between.

        Raises:
            AgentError: it cannot be kept; nobody knows then that nothing ran.
        """
        self._carrying.withdraw(admitted)

    def finish(self, admitted: Admitted, result: ToolResult, error: BaseException | None) -> ToolResult:
        """Keep what a call answered; give what the model is to read.

        Raises:
            Suspended: nobody knows whether an approved action took effect.
            AgentError: what came of it cannot be kept, or another run took the session over.
        """
        return self._carrying.finish(admitted, result, error)

    def unknown(self, call: Call) -> Admitted | Answered:
        """Turn away a call of a tool that nobody has: there is nothing to run, and nothing to ask about.

        Raises:
            AgentError: it cannot be written down.
        """
        # The name is the model's own words.
        nobodys = replace(call, tool=NOBODYS)
        try:
            kept = self._work.batch.result(nobodys.message, nobodys.id)
        except NotCanonical as error:
            return self._heard(self._endings.refused(nobodys, Zone.RED, error.message, error.code))
        if kept is not None:
            return Answered(nobodys, Ruling.REPLAYED, kept)
        refused = self._endings.refused(nobodys, Zone.RED, sayings.NO_TOOL, "unknown_tool")
        return self._kept(nobodys, self._heard(refused))

    def _heard(self, admitted: Admitted | Answered) -> Admitted | Answered:
        """Let stages hear of a call that was kept from running."""
        if isinstance(admitted, Admitted) or admitted.ruling not in NOT_RUN:
            return admitted
        ruling = admitted.ruling.value
        return replace(
            admitted, result=heard(self._work, admitted.call, admitted.result, succeeded=False, ruling=ruling)
        )

    def _kept(self, said: Call, answer: Admitted | Answered) -> Admitted | Answered:
        """Keep what stages have heard of: a later run tells neither them nor the detectors of it again."""
        work = self._work
        if isinstance(answer, Admitted) or answer.ruling not in NOT_RUN or not work.guard.stages.after_tool:
            return answer
        call = self._bound(said).call
        # A call that runs, or began before, under the same id has another answer.
        if not self._carrying.runs(call.id) and not work.batch.started(call.message, call.id):
            work.batch.record(call.message, call.id, answer.result, work.steps)
        return answer

    def _bound(self, call: Call) -> Asked:
        """Give a call as stages left it: what they made of it once holds for every later run, and none begins another.

        Raises:
            NotCanonical: its arguments have no form that binds it.
        """
        changed = self._work.batch.changed(call.message, call.id)
        asked = Asked(call, call)
        return asked if changed is None else asked.with_arguments(changed)

    def settle(self, call: Call) -> ToolResult:
        """Give what a call came to that nobody goes on with: no tool runs for it any more."""
        work = self._work
        try:
            # What began is what stages made of it.
            call = self._bound(call).call
        except NotCanonical as error:
            return sayings.refusal(error.message)
        call_id = call.id
        if (kept := work.batch.result(call.message, call_id)) is not None:
            return kept
        case = work.guard.store.case(call_id) if call_id in work.session.pending else None
        if case is None:
            # Whatever is not only reading is written down before it begins.
            began = work.batch.started(call.message, call_id)
            return sayings.refusal(sayings.UNKNOWN if began else sayings.UNFINISHED)
        state = case.state(work.guard.clock())
        # What might still run, in a task that is over, does not.
        over = State.CANCELLED if state in {State.PENDING, State.APPROVED} else state
        return self._endings.ended(case, call, over) or sayings.refusal(sayings.UNKNOWN)

    def _taken_up(self, asked: Asked) -> Admitted | Answered | None:
        """Go on with a call of which something is known; None where it is new."""
        work, call, call_id = self._work, asked.call, asked.call.id
        if (kept := work.batch.result(call.message, call_id)) is not None:
            return Answered(call, Ruling.REPLAYED, kept)
        zone = self._classified(call).zone
        if self._carrying.runs(call_id):
            # One id twice in a message: what was let through once does not run beside itself.
            return self._endings.refused(call, zone, sayings.TWICE, REPEATED)
        if call_id in work.session.pending and (case := work.guard.store.case(call_id)) is not None:
            return self._follow(case, asked)
        if work.batch.started(call.message, call_id) and not self._classified(call).rule.idempotent:
            return self._unknown(call)
        return None

    def _unknown(self, call: Call) -> Answered:
        """Own up to a call of which nobody knows whether it took effect."""
        return self._endings.answered(
            call, Ruling.IN_DOUBT, sayings.refusal(sayings.UNKNOWN), self._classified(call).zone
        )

    def _classified(self, call: Call) -> Classified:
        return self._work.guard.policy.classify(call.tool, call.arguments)

    def _judged(self, asked: Asked) -> Admitted | Answered:
        """Ask everybody but a person, in turn; the first no is the answer."""
        judged, verdicts = self._checks.ask(asked)
        objections = judged is not asked or any(one.say is not Say.ALLOW for one in verdicts)
        if objections and self._work.batch.started(asked.call.message, asked.call.id):
            # It began in a run before, under its own key: nothing may run in its place, and no no is true of it.
            return self._unknown(asked.call)
        if refusal := self._denied(judged.call, verdicts):
            return refusal
        if judged is not asked:
            # The changed call may be one that has waited, or run, before.
            return self._changed(judged) or self._taken_up(judged) or self._admitted(judged, verdicts)
        return self._admitted(judged, verdicts)

    def _admitted(self, asked: Asked, verdicts: tuple[Verdict, ...], *, again: bool = False) -> Admitted | Answered:
        """Ask rules, detectors, budget and people about a call that no stage refuses.

        `again`: a person is asked in any case, for what was approved is not what would run.
        """
        call, classified = asked.call, self._classified(asked.call)
        volatile = classified.rule.volatile
        print_ = fingerprint(call.tool, call.arguments, volatile)
        said = print_ if not asked.changed else fingerprint(call.tool, asked.said.arguments, volatile)
        if held := self._held(asked, classified, said):
            return held
        over = self._spending.over(price_of(classified))
        asks = [verdict.code or HOOK_ASKED for verdict in verdicts if verdict.say is Say.ASK]
        if self._work.watch.retries(call.tool, print_):
            # A sum just below the bound, after a person refused the one above it.
            asks.append(Anomaly.EDITED_RETRY)
        if again or classified.asks or asks:
            if not self._fits(call.tool, call.arguments):
                # Nobody is asked about what the tool would turn away.
                return self._endings.refused(call, classified.zone, sayings.MISFIT, "arguments_misfit")
            changed = [HOOK_EDITED] if asked.changed else []
            return self._ask(asked, classified, (*classified.reasons, *asks, *changed, *over))
        if over:
            self._spending.pass_gate(over, call.message)
        return self._carrying.begin(call, classified, call.arguments, said=asked.said)

    def _denied(self, call: Call, verdicts: tuple[Verdict, ...]) -> Answered | None:
        """Refuse what a stage refuses."""
        denials = refusals(verdicts)
        if not denials:
            return None
        result = sayings.denied((*(one.text for one in denials), *contexts(verdicts)))
        return self._endings.answered(call, Ruling.BLOCKED, result, self._classified(call).zone, denials[0].code)

    def _changed(self, asked: Asked) -> Answered | None:
        """Keep what stages put in the place of a call's arguments; refuse what the tool cannot take."""
        call = asked.call
        if asked.canonical and self._fits(call.tool, call.arguments):
            self._checks.keep(asked)
            return None
        return self._endings.refused(call, self._classified(call).zone, sayings.MISCHANGED, "invalid_edit")

    def _held(self, asked: Asked, classified: Classified, said: str) -> Answered | None:
        """Hold a call that goes round in circles, by what the model asks for.

        Raises:
            Stopped: it has done so for too long.
        """
        work = self._work
        remedy = work.watch.verdict(said)
        if remedy is Remedy.STOP:
            # The detectors see it at the run's end, and tell people.
            work.seen(asked.said, sayings.refusal(sayings.LOOPING), classified.rule.volatile, held=True)
            raise going_in_circles()
        return (
            self._endings.refused(asked.call, classified.zone, sayings.LOOPING, LOOP)
            if remedy is Remedy.BLOCK
            else None
        )

    def _ask(self, asked: Asked, classified: Classified, reasons: tuple[str, ...]) -> Admitted | Answered:
        call = asked.call
        if asked.changed:
            self._work.batch.ask(call.message, call.id, self._work.steps)
        case = opened(
            self._work,
            id=call.id,
            action=Action.TOOL,
            message=call.message,
            tool_use_id=call.tool_use_id,
            tool=call.tool,
            arguments=dict(call.arguments),
            schema=dict(self._work.guard.schemas.get(call.tool, {})),
            zone=classified.zone,
            level=max(classified.level, Level.BLOCK),
            reasons=tuple(dict.fromkeys(str(reason) for reason in reasons)),
        )
        return self._follow(case, asked)

    def _follow(self, case: Case, asked: Asked) -> Admitted | Answered:
        """Do what a checkpoint is worth now."""
        work, call = self._work, asked.call
        match case.state(work.guard.clock()):
            case State.PENDING | State.IN_DOUBT:
                raise work.ask(case)
            case State.APPROVED:
                return self._approved(case, asked)
            case State.EXECUTING:
                doubtful = self._claims.doubt(case.checkpoint)
                return self._again(asked) if doubtful is None else self._follow(doubtful, asked)
            case state:
                result = self._endings.ended(case, call, state) or sayings.refusal(sayings.UNKNOWN)
                return Answered(call, RULINGS.get(state, Ruling.REPLAYED), result)

    def _again(self, asked: Asked) -> Admitted | Answered:
        """Look once more: another was faster."""
        case = self._work.guard.store.case(asked.call.id)
        if case is None:
            raise AgentError("checkpoint_lost", "The store lost a checkpoint; nothing ran.")
        return self._follow(case, asked)

    def _approved(self, case: Case, asked: Asked) -> Admitted | Answered:
        """Carry out what a person approved, if it still is that, and nothing speaks against it now."""
        work, call, decision = self._work, asked.call, case.decision
        classified = self._classified(call)
        edited = None if decision is None else decision.arguments
        # Not the stored ones: the id binds the call, and a stored text may have been changed since.
        arguments = call.arguments if edited is None else edited
        if fault := self._fault(case, edited):
            return self._void(case, self._endings.refused(call, classified.zone, *fault), fault[1])
        approved = replace(asked, call=replace(call, arguments=arguments))
        judged, verdicts = self._checks.ask(approved)
        if case.state(work.guard.clock()) is not State.APPROVED:
            # Its time ran out while stages were asked.
            return self._follow(case, asked)
        if refusal := self._denied(approved.call, verdicts):
            return self._void(case, refusal, refusals(verdicts)[0].code)
        if judged is not approved:
            return self._remade(case, judged, verdicts)
        return self._claimed(case, asked, arguments)

    def _remade(self, case: Case, judged: Asked, verdicts: tuple[Verdict, ...]) -> Admitted | Answered:
        """Use an approval up, and ask for another: nobody has approved what a stage makes of the call now."""
        if refusal := self._changed(judged):
            return self._void(case, refusal, "invalid_edit")
        if judged.call.id in self._work.session.pending:
            # What a person was asked about once, and did not approve as it stood, nobody is asked again.
            zone = self._classified(judged.call).zone
            return self._void(case, self._endings.refused(judged.call, zone, sayings.UNDONE, HOOK_EDITED), HOOK_EDITED)
        self._claims.refuse(case, None, HOOK_EDITED)
        return self._admitted(judged, verdicts, again=True)

    def _claimed(self, case: Case, asked: Asked, arguments: Mapping[str, Any]) -> Admitted | Answered:
        """Take what was approved, and let it go."""
        work, call, classified = self._work, asked.call, self._classified(asked.call)
        # A hard limit holds for what was approved, too; a soft one was among the reasons.
        self._spending.over(price_of(classified))
        if set(case.checkpoint.reasons) & set(Over):
            self._spending.grant(call.id)
        claimed = self._claims.claim(case)
        if claimed is None:
            return self._again(asked)
        work.reset_watch()
        try:
            return self._carrying.begin(
                call, classified, arguments, Approved(case=case, claimed=claimed), said=asked.said
            )
        except AgentError:
            self._claims.give_back(claimed)
            raise

    def _void(self, case: Case, refusal: Answered, code: str) -> Answered:
        """Use an approval up of what does not run all the same."""
        self._claims.refuse(case, refusal.result, code or None)
        return refusal

    def _fault(self, case: Case, edited: Mapping[str, Any] | None) -> tuple[str, str] | None:
        """Say what is wrong with an approval: a text for the model, and a code."""
        if not case.checkpoint.genuine:
            return sayings.TAMPERED, "checkpoint_changed"
        if edited is None:
            return None
        if case.checkpoint.level is not Level.STEER:
            return sayings.UNEDITABLE, "invalid_edit"
        try:
            canonical(dict(edited))
        except NotCanonical as error:
            return error.message, error.code
        return None if self._fits(case.checkpoint.tool, edited) else (sayings.MISEDITED, "invalid_edit")

    def _fits(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether a tool can take arguments."""
        return next(misfits(self._work.guard.schemas.get(tool, {}), arguments), None) is None
