"""The HTTP API under `/hitl`: all that the pages do, for scripts and other services.

    routes      the endpoints               rules       those about remembered rules
    requests    what a caller may send      responses   what is answered
    errors      what is refused, and how    middleware  what every request passes first
    wait        waiting for runs            sse         a run as server-sent events
    links       what can be done next       server      the application

Handlers parse, call the console and wait. A client that goes away stops nothing: the run is the server's.
"""

PREFIX = "/hitl"
