"""Of random programs a wrong answer does not pass; that they are what they were, h200.txt shows."""

import pytest
import fuzz
import generate
from ladder.measured import random_programs


class TestPrograms:
    def test_neighbours_have_nothing_in_common(self):
        texts = [set(generate.program(seed).text("k").splitlines()) for seed in (200, 201)]
        long = [{line for line in lines if "asm" in line} for lines in texts]
        assert not long[0] & long[1]

    def test_what_is_made_simple_is_gone(self):
        program = generate.program(5007)
        every = frozenset(generate.numbers(program.pieces))
        assert len(program.text("k", every)) < len(program.text("k")) / 2
        assert list(generate.numbers(program.pieces, every)) == []


class TestAside:
    def test_a_cause_without_seeds_is_told(self):
        with pytest.raises(ValueError, match="'b' lists no seeds"):
            random_programs.causes("## a\nresult: 3\n## b\nresults: 5\n")

    def test_each_seed_has_one_cause(self):
        for kind in ("results", "counters"):
            seeds = [seed for cause in random_programs.causes(fuzz.ASIDE.read_text()) for seed in getattr(cause, kind)]
            assert len(seeds) == len(set(seeds))

class TestRecords:
    def test_what_is_read_can_be_written(self):
        assert fuzz.Record.read(fuzz.RECORD).text() == fuzz.RECORD.read_text()

    def test_none_is_a_problem(self, tmp_path):
        path = tmp_path / "h200.txt"
        with pytest.raises(fuzz.Problem):
            fuzz.Record.read(path)
        path.write_text("generator abc\n")
        with pytest.raises(fuzz.Problem):
            fuzz.Record.read(path)


class TestCheck:
    @pytest.fixture(autouse=True)
    def without_programs(self, monkeypatch, capsys):
        self.patch, self.capsys = monkeypatch, capsys

    def check(self, known, answers, counters=None, aside=()):
        """(failed, what was said, which seeds were shrunk)"""
        def run_all(side, seeds, visit):
            visit(seeds, "target", {seed: answers[seed] for seed in seeds})

        shrunk = []
        self.patch.setenv("BACKEND", "cpu")
        self.patch.setattr(fuzz, "run_all", run_all)
        self.patch.setattr(fuzz, "shrink", lambda seed, *_, **__: shrunk.append(seed))
        self.patch.setattr(fuzz, "count_by_executor", lambda *_: counters or {})
        self.patch.setattr(fuzz, "set_aside", lambda: set(aside))
        failed = fuzz.check(known, sorted(answers))
        return failed, self.capsys.readouterr().out, shrunk

    def known(self, counters=None):
        return fuzz.Record("", fuzz.version(), {7: "0" * 8, 8: "1" * 8}, counters or {})

    def test_what_is_equal_passes(self):
        assert self.check(self.known(), {7: "0" * 8, 8: "1" * 8}) == (False, "2 passed, 0 failed, 0 skipped\n", [])

    def test_a_wrong_hash_fails_and_is_shrunk(self):
        failed, said, shrunk = self.check(self.known(), {7: "0" * 8, 8: "f" * 8})
        assert failed
        assert "seed 8: ffffffff instead of 11111111" in said
        assert shrunk == [8]

    def test_a_finding_fails(self):
        failed, said, _ = self.check(self.known(), {7: "race: two", 8: "1" * 8})
        assert failed
        assert "seed 7: race: two" in said

    def test_a_wrong_counter_fails(self):
        right = [0] * len(fuzz.METRICS)
        failed, said, _ = self.check(self.known({7: right}), {7: "0" * 8}, {7: [1, *right[1:]]})
        assert failed
        assert f"{fuzz.METRICS[0]}: 1, on the GPU 0" in said

    def test_what_is_set_aside_must_differ(self):
        right, other = [0] * len(fuzz.METRICS), [1] * len(fuzz.METRICS)
        aside = {("result", 8), ("counters", 7)}
        known = self.known({7: right})
        failed, said, _ = self.check(known, {7: "0" * 8, 8: "f" * 8}, {7: other}, aside)
        assert (failed, said) == (False, "0 passed, 0 failed, 2 skipped\n")
        _, said, _ = self.check(known, {7: "0" * 8, 8: "1" * 8}, {7: right}, aside)
        assert "seed 7: its counters are the GPU's: take it out" in said
        assert "seed 8: its result is the GPU's: take it out" in said

    def test_another_generator_makes_the_record_stale(self):
        known = fuzz.Record("", "another", {7: "0" * 8}, {})
        with pytest.raises(fuzz.Problem, match="stale"):
            self.check(known, {7: "0" * 8})


class TestAnswers:
    def test_findings_are_told_by_kernel_and_notes_are_not(self):
        told = ("simt: note: activemask: said\n  in k3 at a.cu:1, block (0,0,0)\n"
                "simt: race: one\n  in k4 at a.cu:5, block (0,0,0)\nsimt: race: two\n  in k4 at a.cu:6, block\n")
        assert fuzz.findings(told) == {4: "race: one, at a.cu:5, block (0,0,0)"}

    def test_kinds_of_failure(self):
        assert fuzz.kind_of(["0" * 8, "0" * 8]) is None
        assert fuzz.kind_of(["0" * 8, "1" * 8]) == "a difference"
        assert fuzz.kind_of(["race: one, at a.cu:5", "0" * 8]) == "race"

    def test_a_sample_is_spread(self):
        assert fuzz.spread(list(range(100)), 4) == [0, 25, 50, 75]


class TestShrinking:
    def test_ends_with_the_part_that_matters(self, monkeypatch):
        program = generate.program(3)
        guilty = list(generate.numbers(program.pieces))[-1]

        def disagree(self, candidates):
            return ["a difference" if guilty in set(generate.numbers(program.pieces, one)) else None
                    for one in candidates]

        monkeypatch.setattr(fuzz.Shrinker, "disagree", disagree)
        left = fuzz.Shrinker(program, ()).shrink()
        assert list(generate.numbers(program.pieces, left)) == [guilty]

    def test_unused_declarations_go(self):
        text = "  u32 r0 = 5;\n  u32 r1 = 6;\n  u32 r2 = r0;\n  f(r2);\n"
        assert fuzz.tidy(text) == text.replace("  u32 r1 = 6;\n", "")
