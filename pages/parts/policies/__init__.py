"""Policies, their simulation, and remembered rules."""
