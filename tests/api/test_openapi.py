"""The OpenAPI document holds: what it promises is what the running application does, whatever it is sent."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.api.conftest import Served

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
MESSAGES = (
    '/call#c1 send_email {"to": "a@example.com", "subject": "s", "body": "b"}',
    '/call archive_mail {"message_id": "m-1"}\n/call nonsense [1]',
    "/fail once\n/say Hello.",
    "/say Hello.",
)
SETTINGS = settings(
    max_examples=15,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
OPERATIONS = (
    *("POST /chat", "POST /review", "POST /preview", "POST /close", "POST /settle", "POST /stop"),
    *(
        "POST /retry",
        "POST /ask-again",
        "POST /archive",
        "GET /reviews",
        "GET /threads/{thread_id}",
        "GET /audit",
    ),
    *("GET /rules", "POST /rules", "POST /preview-rule", "DELETE /rules/{rule_id}"),
    *(
        "GET /audit/verify",
        "GET /audit/anchor",
        "GET /health",
        "GET /agents",
        "GET /threads/{thread_id}/export",
    ),
)
TAKES_NOTHING = ("/audit/anchor", "/health", "/agents")


def document(served: Served) -> Any:
    found = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
    # The tool's own list of refusals lacks the one for a body that is too large.
    found.config.checks.negative_data_rejection.expected_statuses = ["400", "404", "409", "413", "415", "422"]
    return found


def something_to_say(case: Any, turn: int) -> None:
    """Let generated chats bring about reviews, failures and answers, which random words never would."""
    if case.operation.path == "/chat" and isinstance(case.body, dict) and turn % 3:
        said = {"message": MESSAGES[turn % len(MESSAGES)], "agent": "mail", "model": "demo"}
        if case.meta is None or case.meta.generation.mode.is_positive:
            case.body = {**case.body, **said}


def test_every_endpoint_of_the_format_is_documented(served: Served) -> None:
    paths = served.get("/openapi.json").json()["paths"]
    found = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert found == set(OPERATIONS)


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_endpoint_answers_anything_as_documented(
    served: Served, operation: str, mode: schemathesis.GenerationMode
) -> None:
    method, _, path = operation.partition(" ")
    found = document(served)[path][method]
    if mode is schemathesis.GenerationMode.NEGATIVE and path in TAKES_NOTHING:
        pytest.skip("it takes nothing that could be wrong")
    served.chat(MESSAGES[0], thread_id="t-1")
    turns = iter(range(10_000))

    @SETTINGS
    @given(case=found.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        something_to_say(case, next(turns))
        case.call_and_validate(checks=CHECKS)

    check()


def test_what_an_answer_links_to_can_be_done_next(served: Served) -> None:
    turns = iter(range(10_000))
    followed: Counter[str] = Counter()
    threads: list[str] = []
    waiting: dict[str, int] = {}

    # Rules are listed without any link; the tool would begin every walk there, and look for rules to revoke.
    about_threads = document(served).exclude(path_regex="rule")

    class Walk(about_threads.as_state_machine()):  # type: ignore[misc]
        def before_call(self, case: Any) -> None:
            turn = next(turns)
            something_to_say(case, turn if turn % 2 else turn * len(MESSAGES))  # every other one asks
            body = case.body if isinstance(case.body, dict) else {}
            if threads and case.operation.path != "/chat" and body.get("thread_id") not in threads:
                # No link led here: without this nearly every step would be about a thread that is none.
                case.body = {**body, "thread_id": threads[-1], "review_id": None} if body else case.body
            if case.operation.path == "/review" and body and waiting:
                # What random decisions would be of no use for: as many of them as there are calls.
                thread_id, calls = waiting.popitem()
                decisions = [{"type": ("approve", "reject")[len(threads) % 2]}] * calls
                case.body = {**body, "thread_id": thread_id, "review_id": None, "decisions": decisions}

        def after_call(self, response: Any, case: Any) -> None:
            followed[f"{case.operation.label} {response.status_code}"] += 1
            if case.operation.path == "/chat" and response.status_code == 200:
                told = response.json()
                threads.append(told["thread_id"])
                if told["status"] == "waiting":
                    waiting[told["thread_id"]] = len(told["pending_review"]["action_requests"])

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    Walk.run(settings=settings(SETTINGS, max_examples=10, stateful_step_count=25))
    assert followed["GET /threads/{thread_id} 200"]
    assert followed["POST /review 200"], followed
