"""How the server takes requests, whatever is served: nothing large is imported here, for the port opens first.

hosts     by which names it is asked, from pages of which origin
mount     the API under its prefix, in one process with the pages
lazy_app  an application built with its first request
shutdown  how it ends at once though requests wait
sockets   answers without waiting for the client
"""
