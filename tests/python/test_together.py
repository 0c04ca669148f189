"""Files that are compiled as one: who is called, and who cannot be."""

from harness import contracts
from tree import TreeTest

from ladder import together

RETURNS = "int main() {\n  if (f()) {\n    return 1;\n  }\n  return 0;\n}\n"


class TestTogether(TreeTest):
    def test_a_program_runs_the_main_that_is_named(self):
        files = [self.write("a/one.cu", RETURNS),
                 self.write("a/two.cu", "int main(int argc, char** argv) {\n  return argc;\n}\n")]
        text = together.program(self.root, files)
        assert 'if (chosen("a/one.cu")) return file_0::main_0();' in text
        assert 'if (chosen("a/two.cu")) return file_1::main_1(argc, argv);' in text
        assert text.index("namespace file_1") < text.index("int main(int argc")

    def test_a_contract_is_fulfilled_by_the_file_that_is_named(self):
        self.write("common/sum.h", "void sum(const float* x,\n         cudaStream_t stream);\n"
                   "int64_t floats(int64_t n);\nconstexpr int f(int n) { return n; }\n")
        text = together.program(self.root, [self.write("w/sum.bad.cu", '#include "common/sum.h"\n')])
        assert "return file_0::sum_0(x, stream);" in text
        assert "return file_0::floats_0(n);" in text
        assert "f_0" not in text

    def test_headers_come_first_and_once(self):
        self.write("a/beside.h", "")
        files = [self.write(f"a/{k}.cu", '#include <bit>\n#include "beside.h"\n') for k in range(2)]
        lines = together.text(self.root, files).splitlines()
        assert lines[:2] == ["#include <bit>", '#include "a/beside.h"']
        assert sum("beside" in line for line in lines) == 1

    def test_a_chapters_headers_are_in_the_namespace_of_who_includes_them(self):
        header = "chapters/12_a/plan.h"
        self.write(header, "#pragma once\n#include <bit>\nint plan();\n")
        files = [self.write(f"build/{k}.cu", f'#include "{header}"\n#include "{header}"\nint f();\n') for k in range(2)]
        text = together.text(self.root, files)
        assert text.count("int plan();") == 2
        assert text.index("#include <bit>") < text.index("namespace file_0")
        assert f'#line 1 "./{header}"\n' in text
        assert '#line 2 "./build/0.cu"\n\nint f();\n' in text

    def test_only_a_main_may_end_without_return(self):
        for text, may in ((RETURNS, True), ("void sum() {}\n", True),
                          ("int f() {\n  return 1;\n}\nint main() {\n  f();\n}\n", False)):
            assert bool(together.returns(self.write("a.cu", text))) == may, text

    def test_no_group_is_too_long_and_none_mixes_keys(self):
        files = [self.root / f"{k % 2}.{k}.cu" for k in range(2 * together.AT_MOST + 2)]
        groups = together.gather(files, together.op)
        assert [len(group) for group in groups] == [together.AT_MOST, 1] * 2
        assert sorted(sum(groups, [])) == sorted(files)

    def test_messages_name_no_namespace_of_ours(self):
        assert together.plain("in file_12::sum_kernel, profile_1::x") == "in sum_kernel, profile_1::x"


def test_what_a_contract_declares_may_have_any_type():
    header = ("// Not this one: f(x);\nunsigned long big(const int* x,\n                  int64_t n);\n"
              "std::pair<int, float> two(int a);\nconst char* name();\ninline int one() {\n  return two(3);\n}\n")
    assert [(result, name) for result, name, _ in contracts.functions(header)] == [
        ("unsigned long", "big"), ("std::pair<int, float>", "two"), ("const char*", "name")]
    assert contracts.arguments(contracts.functions(header)[0][2]) == ["x", "n"]
