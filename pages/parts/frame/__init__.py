"""What is around every page."""
