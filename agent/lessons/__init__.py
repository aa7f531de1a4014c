"""The course: each lesson a file of its own, that runs for real on a scratch world of its own."""
