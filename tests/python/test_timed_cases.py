"""What is timed of the chapters' engines beside PyTorch, and how a case is told."""

import ctypes
import re

import pytest
from ladder.measured.cases import LARGE, recorded
from ladder.pages import ROOT
from plots import bn_relu_peers, elementwise, reductions, residual, strided, transposes
from plots.strided import Case, Operand


def source(folder):
    return "".join(path.read_text() for path in (ROOT / folder).glob("*.cu"))


@pytest.mark.parametrize("module, least, large", [
    (elementwise, 180, 20), (reductions, 100, 10), (strided, 200, 15), (residual, 90, 20),
    (transposes, 30, 20)])
def test_each_case_is_there_once_and_enough_are_large(module, least, large):
    cases = module.cases()
    assert least <= len(cases) == len(set(cases))
    assert sum(case.bytes >= LARGE for case in cases) >= large


@pytest.mark.parametrize("module", [elementwise, reductions, strided, residual, transposes])
def test_as_many_bytes_move_as_when_they_were_timed(module):
    """A case that is new or gone is none of those; of strided ones, the record names the path, too."""
    timed = {case.name.partition(": ")[0]: case.bytes for case in recorded(ROOT, module.NAME).cases}
    now = {case.name: case.bytes for case in module.cases() if case.name in timed}
    assert now and now == {name: timed[name] for name in now}


@pytest.mark.parametrize("module", [reductions, strided])
def test_cases_are_drawn_from_the_seed(module):
    assert module.cases() == module.cases()
    assert module.cases() != module.cases(seed=1)


@pytest.mark.parametrize("module, folder", [
    (reductions, "tests/any_reduce"), (strided, "tests/any_strided")])
def test_cases_are_known_to_the_engine(module, folder):
    offered = set(re.findall(r'>\("([^"]+)"\)', source(folder)))
    assert {case.what for case in module.cases()} <= offered


@pytest.mark.parametrize("header, structure, size", [
    ("tests/any_elementwise/any_elementwise.h", elementwise.AnyElementwise, 72),
    ("tests/any_reduce/any_reduce.h", reductions.AnyReduction, 72),
    ("tests/any_strided/any_strided.h", strided.AnyArray, 32),
    ("tests/any_strided/any_strided.h", strided.AnyStrided, 32),
    ("common/bn_relu.h", bn_relu_peers.Problem, 56), ("common/bn_relu.h", bn_relu_peers.Ends, 80),
    ("common/bn_relu.h", residual.Slopes, 80)])
def test_a_structure_is_the_one_of_the_header(header, structure, size):
    """Names in their order; the types are C's of the same size."""
    name = {"Problem": "BnRelu", "Ends": "BnReluForward", "Slopes": "BnReluBackward"}.get(
        structure.__name__, structure.__name__)
    text = re.sub(r"//.*", "", (ROOT / header).read_text())
    body = re.search(rf"struct {name} {{(.*?)}};", text, re.S)[1]
    members = [member for line in body.split(";")
               for member in re.findall(r"(\w+)(?:\[\d\])?\s*(?:,|$)", line.strip())]
    assert members == [field for field, _ in structure._fields_]
    assert ctypes.sizeof(structure) == size


class TestElementwise:
    cases = elementwise.cases()

    def test_each_function_and_type_is_timed_at_every_start_and_size_the_largest_first(self):
        kinds = {(case.op, case.type) for case in self.cases}
        assert len(kinds) == 9
        for start in elementwise.STARTS:
            assert {(case.op, case.type) for case in self.cases
                    if case.start == start and case.n >= 1 << 26} == kinds
        aligned = {case.n for case in self.cases if case.start == "aligned"}
        assert aligned == {1 << exponent for exponent in range(10, 29, 2)}
        assert self.cases[0].n == max(aligned)

    def test_cases_are_known_to_the_engine_and_to_cub(self):
        offered = re.sub(r"\(\s+", "(", source("tests/any_elementwise"))
        peer = (ROOT / elementwise.SOURCES[1]).read_text()
        for case in self.cases:
            assert f'("{case.what}")' in offered
            for name in case.what.split():
                assert f'"{name}"' in peer


class TestReductions:
    cases = reductions.cases()

    def test_those_that_pytorch_is_slow_at_are_timed(self):
        known = {(case.shape, case.dims) for case in self.cases if case.known}
        assert {((1 << 22, 2), (1,)), ((10 ** 6, 8), (1,)), ((8, 10 ** 6), (0,)),
                ((1 << 20, 16), (0,))} <= known

    def test_each_reduces_something_that_fits(self):
        for case in self.cases:
            assert case.dims and case.dims == tuple(sorted(set(case.dims)))
            assert case.dims[-1] < len(case.shape)
            assert 1 << 12 <= case.read <= 1 << 29

    def test_rows_lie_side_by_side(self):
        assert reductions.Case("sum float", (4, 5, 6), (1, 2)).rows
        assert not reductions.Case("sum float", (4, 5, 6), (0, 2)).rows


class TestStrided:
    cases = strided.cases()

    def test_those_that_the_page_names_are_timed(self):
        assert {"half -> float", "half + float", "x + y.t()", "x + row", "x + column",
                "short rows"} <= {case.known for case in self.cases}

    def test_every_layout_steps_forwards_or_repeats(self):
        operands = [(case, operand) for case in self.cases for operand in case.operands]
        for case, operand in operands:
            assert len(operand.strides) == len(case.shape)
            assert min(operand.strides) >= 0
        assert sum(0 in operand.strides for _, operand in operands) > 20
        assert sum(operand.offset > 0 for _, operand in operands) > 10
        assert sum(1 not in operand.strides for _, operand in operands) > 10
        assert sum(operand.type != case.type for case, operand in operands) > 40

    def test_a_view_reaches_to_its_last_element(self):
        assert Operand("float32", (1, 10), 3).elements((4, 5)) == 3 + 3 + 40 + 1

    def test_strides_of_an_order(self):
        assert strided.dense((2, 3, 4)) == (12, 4, 1)
        assert strided.permuted((2, 3, 4), (2, 0, 1)) == (3, 1, 6)

    def test_a_name_says_types_and_strides(self):
        operands = Operand("float32", (100, 1)), Operand("float16", (0, 1), 3)
        assert (Case("add", "float32", (10, 100), operands).name
                == "add float, 10 x 100 of float32; float16 by 0, 1 from 3 on")

    def test_types_are_counted_as_in_the_engine(self):
        plan = (ROOT / "chapters/15_strides_and_casts/plan.h").read_text()
        counted = re.findall(r"k(\w+)", re.search(r"enum class Type \{(.*?)\};", plan, re.S)[1])
        in_cpp = [strided.IN_CPP.get(name, name) for name in strided.TYPES]
        assert [name.lower() for name in counted] == in_cpp


def test_residual_shapes_are_all_timed_in_each_way():
    assert len(residual.cases()) == 11 * 2 * 2 * 2 + 2
