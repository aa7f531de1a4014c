"""What a tool's function receives, held against what was shown, recorded and digested, over the real HTTP API.

The tools here write down what reaches their first line. What has to reach it is written by hand in the tables, and
LangChain itself, without the console, has to agree. `python -m tests.received --help` says how to run more of it.
"""
