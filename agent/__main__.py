"""The command line: `python -m agent`."""

from agent.cli.main import app

app(prog_name="python -m agent")
