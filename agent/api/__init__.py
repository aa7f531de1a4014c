"""The HTTP API under `/hitl`: everything the pages do, for scripts and other services.

    routes      the endpoints               rules       the endpoints of remembered rules
    requests    what a caller may send      responses   what the API answers
    errors      refusals and their status     middleware  checks on every request body
    wait        waiting for runs            sse         a run as server-sent events
    links       what can be done next       server      the application

Handlers parse, call the console and wait. A client that disconnects stops nothing: the run belongs to the server.
"""

PREFIX = "/hitl"
