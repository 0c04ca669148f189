"""What docs/ladder and common/classroom both need: a student's copy has no docs/ladder."""


class Problem(ValueError):
    """Something a person has to mend; the message says what and where."""


# For the environment of a program: what it frees it will want again, and the system would clear new pages each time.
KEEPS_FREED_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**25)}
