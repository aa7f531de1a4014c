"""What every server of the console needs. Imports nothing large, because the port opens before large imports.

hosts     which host names and page origins are accepted
mount     the API under its prefix, in one process with the pages
lazy_app  an application that is built on its first request
shutdown  prompt shutdown while requests wait for runs
sockets   responses without a delay by Nagle's algorithm
"""
