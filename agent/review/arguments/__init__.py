"""A call's arguments: they are parsed, fitted to the tool's schema and compared, and their faults are named."""
