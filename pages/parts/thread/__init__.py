"""The parts of the chat page: a thread's conversation, its state, and its exports."""
