"""The table of what the executor lacks holds what its code refuses, and nothing else."""

import pytest
from ladder import pages, refused, toolchain


@pytest.fixture
def root(tmp_path, monkeypatch):
    """With two calls missing, one of them known by a reason, and two files that refuse a use."""
    runtime = tmp_path / "common/simt/runtime"
    runtime.mkdir(parents=True)
    (runtime / "refusals.cpp").write_text('    {"Ipc", "memory that processes share"},\n'
                                          '    {"Handle", "handles"},\n')
    (runtime / "a.cpp").write_text('if (v) throw Lacking{"views of resources"};\nthrow Lacking{types};\n')
    (runtime / "b.cpp").write_text('throw Lacking{text("attribute ", int(which),\n  " of a link")};\n'
                                   'throw Lacking{"views of resources"};\n')
    written = tmp_path / "calls.cpp"
    written.write_text("int cudaIpcGetMemHandle() {\nint cudaIpcGetMemHandle_ptsz() {\nint cudaLogsCurrent() {\n"
                       "int cuCtxAttach() {\n")
    monkeypatch.setattr(toolchain, "built", lambda root, name: written)
    return tmp_path


def test_calls_of_the_runtime_go_by_the_first_reason_that_fits(root):
    assert refused.calls(root) == {"memory that processes share": ["cudaIpcGetMemHandle"],
                                   "other calls": ["cudaLogsCurrent"]}


def test_uses_are_told_once_and_by_the_words_in_the_code(root):
    runtime = root / "common/simt/runtime"
    assert refused.uses(root) == {"views of resources": [runtime / "a.cpp", runtime / "b.cpp"],
                                  "attribute … of a link": [runtime / "b.cpp"]}


@pytest.mark.parametrize("thrown, said", [
    ('"textures in sRGB"', "textures in sRGB"), ('text("flags ", flags)', "flags …"),
    ('text("types ", int(a), ", ",\n       f(b, c), " are many")', "types …, … are many")])
def test_numbers_and_names_become_dots(thrown, said):
    assert refused.sentence(thrown) == said


def test_each_word_of_a_reason_fits_a_call_that_is_missing():
    names = toolchain.built(pages.ROOT, refused.CALLS).read_text()
    words = refused.REASON.findall((pages.ROOT / refused.REASONS).read_text())
    assert [word for word, _ in words if word not in names] == []
