"""Drifts as data are tests only while what they change is there, once."""

import pytest

import planted

TREE = planted.tree_of("==> a/b.txt\none\ntwo\n*3 three\n==> c.txt\n")


def test_a_tree():
    assert TREE == {"a/b.txt": "one\ntwo\nthree\nthree\nthree\n", "c.txt": ""}


@pytest.mark.parametrize("drift, text", [
    ("@ a/b.txt\n-two\n+zwei\n", "one\nzwei\nthree\nthree\nthree\n"),
    ("@ a/b.txt\n|one\n+*2 more\n! said\n", "one\nmore\nmore\ntwo\nthree\nthree\nthree\n"),
    ("@ a/b.txt\n-*3 three\n@ a/b.txt\n-two\n", "one\n"),
    ("@ a/b.txt\n+last\n", "one\ntwo\nthree\nthree\nthree\nlast\n"),
    ("< a\n@ a/b.txt\n+new\n", "new\n"),
])
def test_a_drift(drift, text):
    assert planted.edited(TREE, drift) == TREE | {"a/b.txt": text}


@pytest.mark.parametrize("drift", [
    "@ a/b.txt\n-tw\n", "@ a/b.txt\n-three\n", "@ c.txt\n|one\n", "@ gone.txt\n-one\n", "< b\n", "< a/b\n", "@ c.txt\none\n",
])
def test_what_no_longer_matches(drift):
    with pytest.raises(AssertionError, match="not once in|there is no|begins with none"):
        planted.edited(TREE, drift)
