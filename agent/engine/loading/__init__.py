"""Graphs of others, as they are loaded: made by their factories, and looked at before anything of them runs."""
