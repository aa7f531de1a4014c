"""The HTTP API under `/hitl`: all that the pages do, for scripts and other services.

    bodies      what a caller may send        gate       what every request passes first
    answers     what is answered              waiting    waiting for runs
    refusals    what is refused, and how      following  a run as server-sent events
    routes      the endpoints                 server     the application
    ending      how the server ends           sending    without waiting for the client
    hosts       by which names it is asked    later      built with the first request

Handlers parse, call the console and wait. A client that goes away stops nothing: the run is the server's.
"""

PREFIX = "/hitl"
