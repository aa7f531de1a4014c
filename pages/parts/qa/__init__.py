"""The parts of the QA page: pasted payloads, and scenarios."""
