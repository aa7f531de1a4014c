"""Faults done to the real server: killed and frozen at named moments, raced, starved of its files, tampered with.

    server      the real server, started so that it can be stopped at a named moment
    moments     the moments at which it can be stopped, killed or frozen
    bench       servers as processes on one folder, and the world as it really is
    person      what somebody does on one thread, and what must have come of it
    own_clock   a server whose process has a clock of its own
    deaths freezes load races crowd clocks storage damage record      what is tried
    trials      the list of all that is tried, and how often

`pytest tests/faults` tries each a few times; `python -m tests.faults` tries all of it many times.
"""
