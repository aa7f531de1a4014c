"""The OpenAPI links from an answer to the calls that can follow it, for people and for tests that follow them."""

from __future__ import annotations

from typing import Any

_THREAD = "$response.body#/thread_id"
_REVIEW = "$response.body#/pending_review/review_id"


_REMEMBERED = {
    "thread_id": _THREAD,
    "tool_call_id": "$response.body#/pending_review/action_requests/0/tool_call_id",
}


def _deciding(kind: str) -> dict[str, Any]:
    return {"thread_id": _THREAD, "review_id": _REVIEW, "decisions": [{"type": kind}]}


LINKS: dict[str, Any] = {
    "thread": {"operationId": "thread", "parameters": {"thread_id": _THREAD}},
    "trail": {"operationId": "audit", "parameters": {"thread_id": _THREAD}},
    "export": {"operationId": "export", "parameters": {"thread_id": _THREAD}},
    "queue": {"operationId": "reviews", "parameters": {"thread_id": _THREAD}},
    "preview": {"operationId": "preview", "requestBody": _deciding("approve")},
    "approve": {"operationId": "review", "requestBody": _deciding("approve")},
    "reject": {"operationId": "review", "requestBody": _deciding("reject")},
    "close": {"operationId": "close", "requestBody": {"thread_id": _THREAD, "review_id": _REVIEW}},
    "stop": {"operationId": "stop", "requestBody": {"thread_id": _THREAD}},
    "retry": {"operationId": "retry", "requestBody": {"thread_id": _THREAD}},
    "preview_rule": {"operationId": "preview_rule", "requestBody": _REMEMBERED},
    "remember": {"operationId": "remember", "requestBody": _REMEMBERED},
}
LINKS_OF_A_RULE: dict[str, Any] = {
    "rules": {"operationId": "rules", "parameters": {"agent": "$response.body#/agent"}},
    "revoke": {"operationId": "revoke", "parameters": {"rule_id": "$response.body#/rule_id"}},
}
