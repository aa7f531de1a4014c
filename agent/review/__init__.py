"""The rules of review: what an action, a decision and the record are.

It imports only the standard library, pydantic, jsonschema and Unicode's data (regex, confusable-homoglyphs). There is
no clock, no I/O and no graph: every function takes what it needs, time included, and returns what is to be done and
recorded.
"""
