"""The rules of review: what an action, a decision and the record are.

Standard library, pydantic, jsonschema and Unicode's data (regex, confusable-homoglyphs) only. No clock, no I/O, no graph: every function here takes
what it needs, time included, and returns what is to be done and recorded.
"""
