"""Pasted payloads, and scenarios."""
