"""ncu's counts and the executor's: what agrees, what may differ, what is told."""

import pytest
from ladder.measured import parity, parity_data
from ladder.measured.parity_data import METRICS, Launch, Parity
from ladder.measured.records import RecordError
from ladder.pages import ROOT

SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
UNIFORM = "smsp__sass_average_branch_targets_threads_uniform.pct"
PROGRAM = "tests/parity/global.cu"
CHAPTER = "chapters/03_pack/relu.cu"
KNOWN = "lanes take turns\n  global.cu copy<float>: sectors\n"


def launch(theirs=None, executor=None, kernel="copy<float>"):
    zero = dict.fromkeys(METRICS, 0)
    return Launch(kernel, [1, 1, 1], [32, 1, 1], zero | (theirs or {}), zero | (executor or {}))


def troubles(*launches, program=PROGRAM, exceptions=""):
    judged = parity_data.judge(Parity({}, {program: list(launches)}),
                               parity_data.read_exceptions(exceptions))
    return [trouble for _, _, _, found in judged for trouble in found]


class TestJudging:
    """What of it tests/counters.py does not show, which judges what was recorded."""

    def test_memory_counters_are_exact(self):
        assert troubles(launch({SECTORS: 8}, {SECTORS: 8})) == []
        found = troubles(launch({SECTORS: 8}, {SECTORS: 9}))
        assert found == [f"launch 0, copy<float>: {SECTORS}: ncu 8, the executor 9"]

    def test_a_known_difference_that_is_gone_is_told(self):
        found = troubles(launch(), exceptions=KNOWN)
        assert len(found) == 1
        assert "copy<float> no longer differs" in found[0]

    def test_a_chapter_has_no_exceptions(self):
        found = troubles(launch({SECTORS: 8}, {SECTORS: 9}), program=CHAPTER,
                         exceptions=KNOWN.replace("global.cu", "relu.cu"))
        assert "ncu 8, the executor 9" in found[0]

    def test_exceptions_that_cannot_be_read(self):
        for text, says in (("  global.cu copy: sectors\n", "write a cause"),
                           ("cause\n  global.cu sectors\n", "indented lines"),
                           ("cause\n  global.cu copy: time\n", "'time' is none")):
            with pytest.raises(RecordError, match=says):
                parity_data.read_exceptions(text)


class TestFiles:
    def test_what_is_read_can_be_written(self):
        for path in parity_data.newest_of_each(ROOT):
            assert parity_data.text_of(parity_data.load(path, ROOT), ROOT) == path.read_text()

    def test_a_program_that_is_counted_alone_replaces_its_own_counts(self):
        known = Parity({"date": "then"}, {PROGRAM: [launch()], CHAPTER: [launch()]}, {PROGRAM: "a", CHAPTER: "b"})
        anew, now = [launch({SECTORS: 8})], {"date": "now", "commit": "c"}
        both = parity.beside(known, {CHAPTER: anew}, now)
        assert both.programs == {PROGRAM: [launch()], CHAPTER: anew}
        assert (both.context, both.ties, both.later) == ({"date": "then"}, {PROGRAM: "a"}, {CHAPTER: now})

    def test_launches_must_match(self):
        other = [launch(kernel="other")]
        for theirs, ours in (([launch()], []), ([launch()], other)):
            with pytest.raises(RecordError):
                parity.together(PROGRAM, theirs, ours)


class TestNcu:
    TOLD = "copy<4>", [2, 1, 1], [32, 1, 1]

    def test_a_kernel_without_branches_is_uniform(self):
        (one,) = parity.launches_of([(*self.TOLD, dict.fromkeys(METRICS, 0))])
        assert one == Launch(*self.TOLD, dict.fromkeys(METRICS, 0) | {UNIFORM: 100}, {})

    def test_a_lacking_metric_is_an_error(self):
        with pytest.raises(RecordError, match=f"no {SECTORS} of copy"):
            parity.launches_of([(*self.TOLD, {m: 1 for m in METRICS if m != SECTORS})])
