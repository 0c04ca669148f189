"""The same four numbers, added up from left to right in three orders."""
import functools
import operator

for numbers in ([1e-20, 1e-20, 1e20, -1e20],
                [1e-20, 1e20, -1e20, 1e-20],
                [1e20, -1e20, 1e-20, 1e-20]):
    print(numbers, "->", functools.reduce(operator.add, numbers))
