"""Every assignment can be done: its solution, handed in, gets all points."""

from graded_class import contained, judges, lost, new_class  # noqa: F401

from classroom import assignment


def test_every_solution_gets_all_points(new_class):
    some = new_class()
    for one in assignment.every():
        some.add(f"solution of {one.name}", one, one.solution)
    some.grade()
    assert not {name: lost(made)[0] for name, made in some.results_by_name().items() if lost(made)}
