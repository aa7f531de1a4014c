"""A thread: its conversation, what it waits for, and what is made of it."""
