"""The course: one file per lesson, each run for real in its own scratch world."""
