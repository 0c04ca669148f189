"""What a contract's header declares and does not define, read without a compiler."""

import re

DECLARATION = re.compile(r"^(\w[\w:<>*&, ]*[ *&])(\w+)\(([^()]*)\);", re.M)
NAME = re.compile(r"(\w+)\s*(?:,|$)")  # Of a parameter.


def functions(header):
    """(type, name, parameters) of each, from the header's text."""
    return [(result.strip(), name, parameters) for result, name, parameters in DECLARATION.findall(header)]


def arguments(parameters):
    """Their names."""
    return NAME.findall(parameters)
