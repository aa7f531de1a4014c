"""Let a widget's callback finish even if another click arrives.

Streamlit checks for a new click whenever the session's state or an element is touched, and aborts the script there.
A callback is called only once for a change, so an aborted one would lose a reason, a choice or "Stop everything".
Streamlit has no setting for this, so importing this module replaces the private method that checks; a test notices
when that method changes. The check runs again right after the callbacks.
"""

from __future__ import annotations

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState

_look = ScriptRunner._maybe_handle_execution_control_request


def _look_outside_callbacks(runner: ScriptRunner) -> None:
    if not _is_in_callback():
        _look(runner)


def _is_in_callback() -> bool:
    try:
        return ThreadState.get().run_location is RunLocation.CALLBACK
    except RuntimeError:  # a thread that draws no page
        return False


ScriptRunner._maybe_handle_execution_control_request = _look_outside_callbacks  # type: ignore[method-assign, assignment]
