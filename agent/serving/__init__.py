"""What `langgraph.json` and `review.toml` say, and the modules they name, imported as LangGraph's servers import them."""
