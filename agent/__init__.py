"""The review console's core. Nothing in it imports Streamlit."""

import os

from agent.serving import alias

# LangGraph reads this once, when it is imported: without it, hostile bytes in a checkpoint file can run code.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
alias.register()
