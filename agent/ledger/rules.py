"""Remembered rules in the ledger, with how often each was used and how it ended."""

from __future__ import annotations

from agent.ledger import rows
from agent.ledger.statements import ReadStatements, Writes
from agent.review.actions import Action, ActionState
from agent.review.rules import Rule, RuleEnd


class RuleReads(ReadStatements):
    """The reads of rules, given a way to run one statement."""

    def rule(self, rule_id: str) -> Rule | None:
        found = self._all("SELECT * FROM rules WHERE rule_id = ?", rule_id)
        return rows.to_rule(found[0]) if found else None

    def rules(self, *, agent: str | None = None, limit: int = 200) -> list[Rule]:
        """Return the rules of all agents or of one: those that have not ended first, then newest first."""
        where = "WHERE agent = ?" if agent is not None else ""
        found = self._all(
            f"SELECT * FROM rules {where} ORDER BY ended IS NOT NULL, rowid DESC LIMIT ?",
            *([agent] if agent is not None else []),
            limit,
        )
        return [rows.to_rule(row) for row in found]

    def standing_rules(self, agent: str | None = None) -> list[Rule]:
        """Return the rules that have not been ended, in the order they were made; some may be past their expiry."""
        narrowed = "AND agent = ?" if agent is not None else ""
        found = self._all(
            f"SELECT * FROM rules WHERE ended IS NULL {narrowed} ORDER BY rowid",
            *([agent] if agent is not None else []),
        )
        return [rows.to_rule(row) for row in found]

    def actions_by_rule(self, rule_id: str, *, state: ActionState) -> list[Action]:
        """Return the actions in this state that the rule approved."""
        found = self._all(
            "SELECT * FROM actions WHERE rule_id = ? AND state = ? ORDER BY rowid", rule_id, state
        )
        return [rows.to_action(row) for row in found]


class RuleWrites(Writes):
    """The writes of rules in a transaction."""

    def add_rule(self, rule: Rule) -> None:
        names = ", ".join(rows.RULE_COLUMNS)
        marks = ", ".join("?" * len(rows.RULE_COLUMNS))
        self._did(f"INSERT INTO rules ({names}) VALUES ({marks})", *rows.rule_values(rule))

    def count_use(self, rule_id: str, at: str) -> bool:
        return self._did(
            "UPDATE rules SET uses = uses + 1, last_used_at = ? WHERE rule_id = ? AND ended IS NULL",
            *(at, rule_id),
        )

    def end_rule(self, rule_id: str, end: RuleEnd, at: str, by: str) -> bool:
        return self._did(
            "UPDATE rules SET ended = ?, ended_at = ?, ended_by = ? WHERE rule_id = ? AND ended IS NULL",
            *(end, at, by, rule_id),
        )
