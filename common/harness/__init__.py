"""What docs/ladder and common/classroom both need: a student's copy has no docs/ladder."""


class Problem(ValueError):
    """Something a person has to mend; the message says what and where."""
