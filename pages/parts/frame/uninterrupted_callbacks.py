"""What a click does is done whole, though another click comes in the middle of it.

Streamlit looks whether one has come wherever the session's state or an element is touched, and leaves off there. In a
callback that means never: it is called for a change once, and a reason, a choice or "Stop everything" would be gone.
Streamlit has no setting for it, so that it is told here where not to look; a test holds it. It looks again right
behind the callbacks. Importing this is enough.
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
    except RuntimeError:  # a thread in which no page is drawn
        return False


ScriptRunner._maybe_handle_execution_control_request = _look_outside_callbacks  # type: ignore[method-assign, assignment]
