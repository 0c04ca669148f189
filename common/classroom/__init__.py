"""Assignments that grade themselves: docs/teaching.md tells how they are used."""
