"""What docs/ladder/prose.py finds in no page of ours, or would miss unseen."""

from tree import TreeTest

from ladder import pages, prose


class TestSentences(TreeTest):
    def page(self, text):
        return pages.Page(self.write("docs/a.md", text), self.root)

    def found(self, text):
        """Every sentence of a page, without where it is."""
        page = self.page(text)
        return [s for _, sentences in prose.paragraphs(prose.text(page)) for s in sentences]

    def test_where_no_sentence_ends(self):
        for text, sentences in [
            ("It takes 3.5 of\nthem, e.g. two, i.e. one.", ["It takes 3.5 of them, e.g. two, i.e. one."]),
            ("Figures, cf. Fig. 2, see. ncu counts. `x` is.", ["Figures, cf. Fig. 2, see.", "ncu counts.", "`x` is."]),
            ("The chapters (01 ... 10) end. And so on ... again.",
             ["The chapters (01 ... 10) end.", "And so on ... again."]),
        ]:
            assert self.found(text) == sentences

    def test_what_is_none(self):
        assert self.found(
  "# A heading\nText of <!-- value a b -->4.2<!-- end --> things.\n\n"
  "| a | table |\n|---|---|\n\n```text\nA fence.\n```\n\n"
  "<!-- table a -->\n*A caption.*\n<!-- end -->\n![An image. Of it.](a.svg)\n\n"
  "<details><summary>Fold. Out.</summary>\n\nAn <b>answer</b>.\n</details>\nThe end.\n") == ["Text of 4.2 things.", "An answer.", "The end."]

    def test_where_it_stands(self):
        page = self.page("# A\n\nOne.\nTwo.\n\n<details>\n\n  - Three.\n")
        assert [page.line(at) for at, _ in prose.paragraphs(prose.text(page))] == [3, 8]

    def test_words(self):
        for sentence, count in [
            ("One, two - three.", 3),
            ("Type `make chapter01 && ./run` twice.", 3),
            ("A [link of four](a.md#b) words, 16-byte.", 6),
            ("2 x 3 = 6", 4),
        ]:
            assert prose.words(sentence) == count
