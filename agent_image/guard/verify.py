"""Verify the audit: whether the lines that are there are the lines that were written, all of them, in their order.

What a chain cannot say of itself, its anchor says: the head in a session's record, the hash in a decision's. From the
head the chain is followed back to its beginning. Lines beside it are explained in one way only: a run that died, or
lost its session, had written more than was anchored. Such a tail begins at an anchored line, belongs to one run, and
that run has nothing further on in the chain. Where the tail holds the run's very end, the next run must say that it
found the session held: else somebody set the head back, to have a run forgotten.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent_image.contract import EventName, Field
from agent_image.guard.audit import DECISION_CHAIN, ERASURE_CHAIN, RECOVERED, SESSION_CHAIN
from agent_image.guard.audit_lines import Line
from agent_image.guard.session import Head
from agent_image.guard.signs import Finding, Sign, Verification
from agent_image.guard.sweep import SWEEP_CHAIN

LONE_CHAINS: Final = (DECISION_CHAIN, ERASURE_CHAIN, SWEEP_CHAIN)
"""What the chains begin with whose events stand alone."""


def verify(
    lines: Iterable[Line], heads: Mapping[str, Head], decisions: Mapping[str, Collection[str]] | None = None
) -> Verification:
    """Verify an audit.

    `heads` holds the head of each session that the store knows, `decisions` the hashes that the records of a
    checkpoint's decision and resolution hold.
    """
    audit = _Audit()
    for line in lines:
        audit.add(line)
    anchored = 0
    for session_id in sorted(heads.keys() | audit.sessions.keys()):
        anchored += audit.session(session_id, heads.get(session_id))
    hashes = {f"{DECISION_CHAIN}{checkpoint_id}": held for checkpoint_id, held in (decisions or {}).items()}
    for chain in sorted(hashes.keys() | audit.alone.keys()):
        anchored += audit.lone(chain, hashes.get(chain))
    findings = sorted(audit.findings, key=lambda one: (one.session_id, one.chain, one.seq, one.sign))
    return Verification(audit.lines, len(audit.sessions) + len(audit.alone), anchored, tuple(findings))


@dataclass(frozen=True, slots=True)
class _Node:
    """Hold what verification needs of a line; lines themselves are let go."""

    hash: str
    prev: str
    seq: int
    run: str
    ts: str
    ends: bool
    recovers: bool
    session_id: str
    chain: str
    place: str
    number: int
    order: int

    def found(self, sign: Sign, *, count: int = 1) -> Finding:
        return Finding(
            sign=sign,
            session_id=self.session_id,
            chain=self.chain,
            run=self.run,
            seq=self.seq,
            count=count,
            place=self.place,
            number=self.number,
        )


class _Audit:
    """Sort lines into chains, and judge each chain."""

    def __init__(self) -> None:
        self.lines = 0
        self.findings: list[Finding] = []
        self.sessions: dict[str, dict[str, _Node]] = {}
        self.alone: dict[str, dict[str, _Node]] = {}

    def add(self, line: Line) -> None:
        self.lines += 1
        if line.record is None:
            self.findings.append(Finding(sign=Sign.TORN, place=line.place, number=line.number))
            return
        node = _node(line, self.lines)
        if not _sealed(line.raw, node.hash):
            self.findings.append(node.found(Sign.EDITED))
        chain = self._chain(node)
        if chain is None:
            self.findings.append(node.found(Sign.FORGED))
        elif node.hash in chain:
            self.findings.append(node.found(Sign.REPEATED))
        else:
            chain[node.hash] = node

    def session(self, session_id: str, head: Head | None) -> int:
        """Judge a session's chain; tell how many of its lines are anchored."""
        nodes = self.sessions.get(session_id, {})
        start = nodes.get(head.hash) if head is not None else None
        if head is None:
            self._find(Finding(sign=Sign.NO_ANCHOR, session_id=session_id, chain=SESSION_CHAIN, count=len(nodes)))
        elif head.seq and (start is None or start.seq != head.seq):
            last = max((node.seq for node in nodes.values() if node.seq < head.seq), default=0)
            first, count = last + 1, head.seq - last
            self._find(
                Finding(sign=Sign.CUT, session_id=session_id, chain=SESSION_CHAIN, seq=first, count=max(count, 1))
            )
        anchored = start is not None
        if start is None and (head is None or head.seq):
            # Without an anchor the last that was written tells what was believed to be the chain.
            start = max(nodes.values(), key=lambda node: (node.ts, node.order), default=None)
        trunk = list(self._trunk(nodes, start))
        self._order(trunk)
        self._tails(nodes, trunk)
        return len(trunk) if anchored else 0

    def lone(self, chain: str, hashes: Collection[str] | None) -> int:
        """Judge events that stand alone; tell how many of them are anchored."""
        nodes = self.alone.get(chain, {})
        missing = set(hashes or ()) - nodes.keys()
        self.findings += [Finding(sign=Sign.CUT, chain=chain, seq=1)] * len(missing)
        for node in nodes.values():
            if node.prev or node.seq != 1:
                self._find(node.found(Sign.FORGED))
            elif hashes is None:
                self._find(node.found(Sign.NO_ANCHOR))
            elif node.hash not in hashes:
                # Somebody who came too late, or whose process ended before the decision was written.
                self._find(node.found(Sign.UNANCHORED))
        return len(nodes.keys() & set(hashes or ()))

    def _find(self, finding: Finding) -> None:
        self.findings.append(finding)

    def _chain(self, node: _Node) -> dict[str, _Node] | None:
        if node.chain == SESSION_CHAIN and node.session_id and node.seq:
            return self.sessions.setdefault(node.session_id, {})
        if node.chain.startswith(LONE_CHAINS):
            return self.alone.setdefault(node.chain, {})
        return None

    def _trunk(self, nodes: Mapping[str, _Node], start: _Node | None) -> Iterator[_Node]:
        """Follow a chain from its head back to its beginning, over every gap."""
        node = start
        while node is not None:
            yield node
            before = nodes.get(node.prev)
            if before is not None and before.seq == node.seq - 1:
                node = before
                continue
            if node.seq == 1 and not node.prev:
                return
            after = _below(nodes.values(), node)
            first = 1 if after is None else after.seq + 1
            if before is None and node.seq > first:
                found = node.found(Sign.MISSING, count=node.seq - first)
                self._find(replace(found, run="", seq=first, place="", number=0))
            else:
                self._find(node.found(Sign.FORGED))
            node = after

    def _order(self, trunk: list[_Node]) -> None:
        rising = _longest_rising([node.order for node in reversed(trunk)])
        for node in trunk:
            if node.order not in rising:
                self._find(node.found(Sign.REORDERED))

    def _tails(self, nodes: Mapping[str, _Node], trunk: list[_Node]) -> None:
        anchored = {node.hash: node for node in trunk}
        last = {node.run: node.seq for node in reversed(trunk)}
        left = {key: node for key, node in nodes.items() if key not in anchored}
        after = {node.prev: node for node in reversed(left.values())}
        # A run at work is ahead of its anchor; behind a run that was followed, somebody has to know of it.
        known = {node.prev for node in trunk if node.recovers} | {trunk[0].hash if trunk else ""}
        runs: set[str] = set()
        explained: set[str] = set()
        for root in left.values():
            fork = anchored.get(root.prev)
            begins = root.seq == (fork.seq + 1 if fork is not None else 1) and (fork is not None or not root.prev)
            tail = list(_tail(root, after)) if begins and root.run not in runs else []
            if tail and last.get(root.run, 0) < root.seq and not any(node.ends for node in tail[:-1]):
                sign = Sign.END_UNANCHORED if tail[-1].ends and root.prev not in known else Sign.UNANCHORED
                self._find(root.found(sign, count=len(tail)))
                runs.add(root.run)
                explained |= {node.hash for node in tail}
        for key, node in left.items():
            if key not in explained:
                self._find(node.found(Sign.FORGED))


def _below(nodes: Iterable[_Node], node: _Node) -> _Node | None:
    """Find where a chain goes on below a gap: in the same run, if it has more, else in what was written last.

    What has the number of the missing line is not it, for it has another hash.
    """
    below = [one for one in nodes if one.seq < node.seq - 1]
    return max(below, key=lambda one: (one.run == node.run, one.seq, one.order), default=None)


def _tail(root: _Node, after: Mapping[str, _Node]) -> Iterator[_Node]:
    node: _Node | None = root
    seen = set()
    while node is not None and node.hash not in seen:
        seen.add(node.hash)
        yield node
        follower = after.get(node.hash)
        node = follower if follower and (follower.run, follower.seq) == (root.run, node.seq + 1) else None


def _node(line: Line, order: int) -> _Node:
    return _Node(
        hash=line.text(Field.HASH),
        prev=line.text(Field.PREV),
        seq=line.seq,
        run=line.text(Field.RUN),
        ts=line.text(Field.TS),
        ends=line.text(Field.EVENT) == EventName.RUN_ENDED,
        recovers=line.text(Field.EVENT) == EventName.RUN_STARTED and RECOVERED in line.texts(Field.REASONS),
        session_id=line.session_id,
        chain=line.text(Field.CHAIN),
        place=line.place,
        number=line.number,
        order=order,
    )


def _sealed(raw: bytes, claimed: str) -> bool:
    """Tell whether a line has the hash that it claims, and ends there: its own bytes count, nothing is written anew."""
    seal = f',"{Field.HASH.value}":"{claimed}"}}'.encode()
    return hashlib.sha256(raw.removesuffix(seal) + b"}").hexdigest() == claimed


def _longest_rising(orders: list[int]) -> set[int]:
    """Give the most numbers that stand in rising order: whoever is not among them was moved."""
    tops: list[int] = []
    before: dict[int, int | None] = {}
    for order in orders:
        place = bisect_right(tops, order)
        before[order] = tops[place - 1] if place else None
        tops[place : place + 1] = [order]
    kept: set[int] = set()
    at = tops[-1] if tops else None
    while at is not None:
        kept.add(at)
        at = before[at]
    return kept
