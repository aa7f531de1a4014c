"""A call's arguments: read, fitted to the tool's schema, compared, and their faults named."""
