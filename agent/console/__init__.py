"""The use cases: what pages, API and command line can ask of the console, in one module per subject."""

from agent.console.console import Console
from agent.console.outcomes import Outcome
from agent.console.views import View

__all__ = ["Console", "Outcome", "View"]
