"""Remembered rules: list them, preview what one would allow, make one, revoke one at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from uuid import uuid4

from agent.console.checks import known
from agent.console.writes import Entry
from agent.ports import Clock, Engine, Ledger, Reads, Transaction
from agent.review import rules, tool_messages
from agent.review.actions import Action, ActionState
from agent.review.damage import fits
from agent.review.errors import (
    AgentNotLoaded,
    RecordDamaged,
    ReviewChanged,
    RuleOver,
    RuleRefused,
    UnknownAgent,
    UnknownRule,
)
from agent.review.events import EventKind, instant
from agent.review.facts import RuleExpiredFact, RuleMadeFact, RuleRevokedFact, of_rule
from agent.review.people import NOBODY
from agent.review.rules import Foresight, Lasting, Rule, RuleEnd, Scope

LOOKED_BACK = 200
"""How many past proposals of the tool the preview of a rule is tried on."""


class Rules:
    """The use cases about rules. None changes a waiting action: its tier was fixed when it was proposed."""

    def __init__(self, *, ledger: Ledger, engine: Engine, secret: bytes, clock: Clock) -> None:
        self._ledger, self._engine, self._secret, self._clock = ledger, engine, secret, clock

    def all(self, agent: str | None = None) -> list[Rule]:
        """Return the rules of all agents or of one: those that have not ended first, then newest first."""
        return self._ledger.rules(agent=agent)

    def forbidden(self, action: Action) -> str:
        """Return why no rule can be made from this action, as a sentence; "" if one can."""
        return rules.forbidden(self._engine.agent(action.agent), action.tool)

    def disabled(self, rule: Rule) -> str:
        """Return why a rule that has not ended allows nothing now, as a sentence; "" if it is in force."""
        if rule.expires_at <= instant(self._clock()):
            return "It has expired."
        try:
            return rules.disabled(rule, self._engine.agent(rule.agent))
        except (UnknownAgent, AgentNotLoaded) as error:
            return str(error)

    def foresee(
        self,
        thread_id: str,
        tool_call_id: str,
        *,
        free: Sequence[str],
        scope: Scope,
        lasting: Lasting,
        by: str,
        shown_digest: str | None = None,
        zone: tzinfo = UTC,
    ) -> Foresight:
        """Return the rule that `make` would make, and the past calls it would have allowed. Changes nothing."""
        action = self._remembered(self._ledger, thread_id, tool_call_id, shown_digest)
        rule = self._made(action, free, scope, lasting, by, zone)
        found = self._ledger.events(
            kind=EventKind.ACTION_PROPOSED,
            agent=rule.agent,
            tool=rule.tool,
            newest_first=True,
            limit=LOOKED_BACK,
        )
        return rules.foresee(rule, found)

    def make(
        self,
        thread_id: str,
        tool_call_id: str,
        *,
        free: Sequence[str],
        scope: Scope,
        lasting: Lasting,
        by: str,
        shown_digest: str | None = None,
        zone: tzinfo = UTC,
    ) -> Rule:
        """Make a rule from this call: calls like it run without asking, on this thread or with this agent.

        `free` names the arguments that may have any value; all others are bound. `zone` sets when `today` ends.
        Raises `UnknownThread`, `RuleRefused`, and `ReviewChanged` if the call is not the one that was shown.
        """
        with self._ledger.write() as tx:
            action = self._remembered(tx, thread_id, tool_call_id, shown_digest)
            rule = self._made(action, free, scope, lasting, by, zone)
            _check_new(tx, rule)
            tx.add_rule(rule)
            made = RuleMadeFact(rule=rule, lasting=lasting, summary=action.summary)
            Entry(tx, known(tx, thread_id), by, self._clock()).note_action(action, made)
        return rule

    def revoke(self, rule_id: str, *, by: str) -> Rule:
        """End a rule at once. Actions it approved that have not started are withdrawn.

        Raises `UnknownRule` and `RuleOver`.
        """
        with self._ledger.write() as tx:
            rule = tx.rule(rule_id)
            if rule is None:
                raise UnknownRule(rule_id)
            now = instant(self._clock())
            if not tx.end_rule(rule_id, RuleEnd.REVOKED, now, by):
                raise RuleOver(rule_id, str(rule.ended), str(rule.ended_by), str(rule.ended_at))
            taken_back = tx.actions_by_rule(rule_id, state=ActionState.APPROVED)
            names = [[one.key.thread_id, one.key.tool_call_id] for one in taken_back]
            tx.append(of_rule(RuleRevokedFact(rule=rule, uses=rule.uses, withdrawn=names), now, by))
            for action in taken_back:
                tx.withdraw(action, tool_messages.RULE_OVER, now, by, rule_id=action.rule_id)
        return replace(rule, ended=RuleEnd.REVOKED, ended_at=now, ended_by=by)

    def end_expired(self) -> None:
        """End every expired rule for good, so that setting the clock back later revives none."""
        now = instant(self._clock())
        if all(now < rule.expires_at for rule in self._ledger.standing_rules()):
            return
        with self._ledger.write() as tx:
            for rule in tx.standing_rules():
                if rule.expires_at <= now and tx.end_rule(rule.rule_id, RuleEnd.EXPIRED, now, NOBODY):
                    tx.append(of_rule(RuleExpiredFact(rule=rule, uses=rule.uses), now))

    def _remembered(
        self, reads: Reads, thread_id: str, tool_call_id: str, shown_digest: str | None
    ) -> Action:
        known(reads, thread_id)
        action = reads.latest_action(thread_id, tool_call_id)
        if action is None or action.args is None:
            raise RuleRefused(
                f"Thread {thread_id} has no call {tool_call_id} that could run. Make the rule from one that has."
            )
        if not fits(action, self._secret):
            raise RecordDamaged(f"The record of the call {tool_call_id}", "Make the rule from another call.")
        if shown_digest is not None and action.shown_digest != shown_digest:
            raise ReviewChanged(f"The call {tool_call_id} is not the one that was shown.")
        return action

    def _made(
        self, action: Action, free: Sequence[str], scope: Scope, lasting: Lasting, by: str, zone: tzinfo
    ) -> Rule:
        return rules.make(
            self._engine.agent(action.agent),
            action,
            rule_id=f"rule-{uuid4().hex[:12]}",
            free=free,
            scope=scope,
            lasting=lasting,
            by=by,
            now=self._clock().astimezone(zone),
        )


def _check_new(tx: Transaction, rule: Rule) -> None:
    """Raise `RuleRefused` if the same rule is in force already, after a second click or in another tab."""
    for one in tx.standing_rules(rule.agent):
        same = (one.made_from, one.free, one.thread_id) == (rule.made_from, rule.free, rule.thread_id)
        if same and rules.in_force(one, rule.made_from.thread_id, rule.made_at):
            raise RuleRefused(
                f"This is remembered already, by {one.made_by} until {one.expires_at} ({one.rule_id}). "
                "To change how long it lasts, revoke that rule first."
            )
