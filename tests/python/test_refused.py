"""The table of what the executor lacks is woven; what it goes by stays true."""

from ladder import pages, refused, toolchain


def test_each_word_of_a_reason_fits_a_call_that_is_missing():
    names = toolchain.built(pages.ROOT, refused.CALLS).read_text()
    words = refused.REASON.findall((pages.ROOT / refused.REASONS).read_text())
    assert [word for word, _ in words if word not in names] == []
