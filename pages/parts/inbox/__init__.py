"""The inbox's list."""
