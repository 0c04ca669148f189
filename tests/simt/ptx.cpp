// How the executor reads PTX: what it accepts, what it refuses and how it says
// so, and that no text, however wrong, ends in anything else. Needs no GPU, and
// is not built for one.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/simt/core/literals.h"
#include "common/simt/core/names.h"
#include "common/simt/decode/decode.h"
#include "common/simt/decode/forms.h"
#include "common/simt/decode/link.h"
#include "common/simt/decode/parse.h"

namespace {

using namespace simt;

// ---- Reading a module -------------------------------------------------------

constexpr const char* kHead =
    ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"some.cu\"\n";

// Parses and decodes all of it, without memory for its variables.
void read(const std::string& text) {
  Module module;
  module.text = parse_ptx(text);
  for (const auto& [name, function] : module.text.functions)
    module.function_names.push_back(name);
  for (const Declaration& d : module.text.variables)
    if (d.space != "shared")
      module.variables[d.name] = {Space::kGlobal, 4096, d.bytes, false,
                                  d.space == "const"};
  for (const auto& [name, function] : module.text.functions)
    if (function.entry && function.defined) decode(module, function);
}

// Why the executor refuses it, or "".
std::string why_not(const std::string& text) {
  try {
    read(text);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

// The same for the statements of a kernel.
std::string refusal(const std::string& statements, const char* head = kHead) {
  return why_not(head + std::string(R"(
.global .align 16 .b8 there[64];
.func callee() { ret; }
.visible .entry some_kernel(.param .u64 pointer) {
.reg .pred %p<4>;
.reg .b16 %h<4>;
.reg .b32 %r<4>;
.reg .b64 %l<4>;
.shared .align 16 .b8 box[64];
.loc 1 7 0
)") + statements +
                 "\nret;\n}\n");
}

// The same for what stands between a kernel's parameters and its body.
std::string refusal_of_directive(const std::string& directive) {
  return why_not(kHead + std::string(".visible .entry k()\n") + directive +
                 "\n{ ret; }\n");
}

bool says(const std::string& text, const std::string& part) {
  INFO("it says: ", text);
  CHECK(text.find(part) != text.npos);
  return text.find(part) != text.npos;
}

// ---- Forms ------------------------------------------------------------------

TEST_CASE("every line of the list stands for forms, and none is there twice") {
  std::set<std::string> all;
  size_t twice = 0;
  for (const FormGroup& group : form_groups()) {
    for (std::string_view line : group.lines) {
      size_t forms = 0;
      expand_form(line, [&](const std::string& form) {
        ++forms;
        twice += !all.insert(form).second;
      });
      CHECK(forms > 0);
    }
  }
  CHECK(twice == 0);
}

TEST_CASE("what is in the list is accepted") {
  for (const char* statement :
       {"add.sat.s32 %r1, %r2, -5;",
        "mov.f32 %r1, 1.5;",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%r0, %r1, %r2, %r3}, "
        "[there];",
        "ld.shared::cta.u8 %r1, [box+3];",
        "@!%p1 bra.uni over; over:",
        "mov.b64 {%r1, _}, %l1;",
        "setp.lt.and.s32 %p1|%p2, %r1, 3, !%p3;",
        "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;",
        "atom.add.release.gpu.u32 %r1, [%l1], 1;",
        "bar.sync 0, 64;",
        "barrier.cluster.arrive.release.aligned;",
        "mapa.u64 %l1, %l2, 0;",
        "mapa.shared::cluster.u32 %r1, box, %r2;",
        "mov.pred %p1, %is_explicit_cluster;",
        "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r1}, [%l1, {%r1, 0f00000000}];",
        "sust.b.1d.v2.b32.trap [%l1, {%r1}], {%r1, %r2};",
        "call callee, ();",
        "cvt.u64.u32 %l1, %tid.x;",
        ".pragma \"nounroll\";",
        "cp.async.ca.shared.global [%r1], [%l1], 8, %r2;",
        "cp.async.cg.shared::cta.global.L2::128B [%r1], [%l1], 16, !%p1;",
        "mbarrier.arrive.release.cta.shared::cta.b64 _, [box], 3;",
        "fence.proxy.async;",
        "ld.global.L2::cache_hint.u32 %r1, [there], %l1;",
        "cp.async.cg.shared.global.L2::cache_hint [%r1], [%l1], 16, %l2;",
        "createpolicy.fractional.L2::evict_last.b64 %l1, 0.5;",
        "discard.L2 [there], 128;",
        "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;",
        "vmad.s32.s32.s32.sat.shr7 %r1, %r2.h0, %r3, %r1;",
        "vadd4.u32.u32.s32.sat %r1.b31, %r2.b7654, %r3.b0000, %r1;",
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%r1], [%l1, {%r2}], [%r3];",
        "cp.async.bulk.tensor.2d.shared::cluster.global"
        ".mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
        "[%l1, {%r2, 5}], [%r3], %h1;",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
        "[%l1, {%r2, -1}], [%r3];",
        "elect.sync _|%p1, -1;",
        "vote.ballot.sync.b32 %r1, %p1, -1;",
        "ld.u32.volatile.global %r1, [there];",
        "st.global.v2.u32 [there+8], {%r1, 7};"})
    CHECK(refusal(statement) == "");
}

TEST_CASE("a form that is not in the list is refused by name and place") {
  for (const char* statement :
       {"ld.global.foo.u32 %r1, [there];",
        "ld.global.u32.v2 %r1, [there];",
        "ld.u7 %r1, [there];",
        "ld.s1000 %r1, [there];",
        "add.ftz.s32 %r1, %r2, %r3;",
        "add.u8 %r1, %r2, %r3;",
        "fma.f32 %r1, %r2, %r3, %r1;",
        "prefetch.const.L1 [there];",
        "griddepcontrol.stop;",
        "fence.proxy.nothing;",
        "discard.L2 [there], 64;",
        "vadd.u32.u32.u32.sat %r1, %r2, %r3;",
        "vadd.s32.s32.s32.sat %r1.b0, %r2, %r3, %r1;",
        "vmin.s32.s32.s32 %r1, %r2.b4, %r3;",
        "vadd.s32.s32.s32 %r1, -%r2, %r3;",
        "add.s32 %r1, %r2.b0, %r3;",
        "ld.shared::cluster.ca.u32 %r1, [%l1];",
        "mapa.s64 %l1, %l2, 0;",
        "ld.volatile.global.L2::cache_hint.u32 %r1, [there], %l1;",
        "red.async.relaxed.cluster.add.u32 [%l1], %r1;",
        "brkpt.uni;",
        "tensormap.replace.tile.rank.b1024.b32 [%l1], %r1;",
        "lop3.xor.b32 %r1|%p1, %r1, %r2, %r3, 1, %p2;",
        "atom.add.noftz.f32 %r1, [there], %r2;",
        "trap.uni;",
        "cp.async.ca.shared.global [%r1], [%l1], 5;",
        "cp.async.cg.shared.global [%r1], [%l1], 8;",
        "cp.async.cg.shared.global.L2::cache_hint [%r1], [%l1], 16;",
        "cp.async.ca.global.shared [%l1], [%r1], 4;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%r1], [%l1, {%r2}], [%r3];",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col"
        ".mbarrier::complete_tx::bytes [%r1], [%l1, {%r1, %r2, %r3}], [%r3], "
        "{%h1};",
        "mbarrier.arrive.sys.b64 _, [box];",
        "mbarrier.arrive.shared::cluster.b64 %l1, [%r1];",
        "tex.2d.v4 {%r1}, [x, y];",
        "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r1}, [%l1, x, {%r1, %r2}];",
        "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r1}, [%l1, {%r1}];",
        "tex.2d.v2.f32.f32 {%r1, %r2}, [%l1, {%r1, %r2}];",
        "suld.b.2d.v4.b64.trap {%l1, %l2, %l1, %l2}, [%l1, {%r1, %r2}];",
        "sust.b.1d.v2.b32.trap [%l1, {%r1}], {%r1};",
        "mov.u32 %r1, %gridid;",
        "mov.u32 %r1, %clockwork;"}) {
    const std::string said = refusal(statement);
    says(said, "some_kernel");
    says(said, "some.cu:7");
    says(said, std::string(statement).substr(0, 3));
  }
}

TEST_CASE("a name that nobody has declared is what a refusal names") {
  says(refusal("mov.u32 %r1, %clockwork;"), "'%clockwork' is no register");
  says(refusal("add.u32 %r1, %r2, %s9;"), "'%s9' is no register");
  says(refusal("mov.b64 %l1, {%r1, %s9};"), "'%s9' is no register");
}

TEST_CASE("what is there for sm_90a alone says how to compile for it") {
  for (const char* statement :
       {"wgmma.fence.sync.aligned;", "setmaxnreg.inc.sync.aligned.u32 64;",
        "tensormap.replace.tile.global_dim.b1024.b32 [%l1], 0, %r1;"})
    says(refusal(statement), "make program takes FLAGS=-arch=sm_90a");
}

TEST_CASE("operands that wgmma and setmaxnreg do not take are refused") {
  constexpr const char* kForHopper =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"some.cu\"\n";
  const auto why = [&](const std::string& rest) {
    return refusal("wgmma.mma_async.sync.aligned.m64n8k" + rest, kForHopper);
  };
  const std::string d = " {%r0, %r1, %r2, %r3}, ";
  CHECK(why("16.f32.f16.f16" + d + "%l0, %l1, %p1, 1, -1, 0, 1;") == "");
  CHECK(why("16.f32.f16.f16" + d +
            "{%r0, %r1, %r2, %r3}, %l1, !%p1, 1, 1, 0;") == "");
  CHECK(why("256.s32.b1.b1.and.popc" + d + "%l0, %l1, %p1;") == "");
  says(why("16.f32.f16.f16 {%r0, %r1}, %l0, %l1, %p1, 1, 1, 0, 0;"),
       "of D it has 2 registers, and should have 4");
  says(why("16.f16.f16.f16" + d + "%l0, %l1, %p1, 1, 1, 0, 0;"),
       "of D it has 4 registers, and should have 2");
  says(why("16.f32.f16.f16" + d + "{%r0, %r1}, %l1, %p1, 1, 1, 0;"),
       "of A it has 2 registers");
  says(why("16.f32.f16.f16" + d + "%r0, %l1, %p1, 1, 1, 0, 0;"),
       "'%r0' is no descriptor");
  says(why("16.f32.f16.f16" + d + "%l0, %l1, %r1, 1, 1, 0, 0;"),
       "'%r1' is no predicate");
  says(why("16.f32.f16.f16" + d + "%l0, %l1, %p1, 2, 1, 0, 0;"),
       "2 is neither 1 nor -1");
  says(why("8.f32.tf32.tf32" + d + "%l0, %l1, %p1, 1, 1, 0, 0;"),
       "it has 8 operands, and should have 6");
  says(why("32.s32.s8.s8.satfinite" + d + "%l0, %l1, %p1, 1, 1;"),
       "it has 6 operands, and should have 4");
  says(why("32.s32.s8.s8;"), "its operands should be");
  CHECK(refusal("setmaxnreg.inc.sync.aligned.u32 232;", kForHopper) == "");
  for (const char* count : {"20", "260", "100"})
    says(refusal("setmaxnreg.dec.sync.aligned.u32 " + std::string(count) + ";",
                 kForHopper),
         "24 to 256 registers, in steps of 8");
  const auto sparse = [&](const std::string& rest) {
    return refusal("wgmma.mma_async.sp.sync.aligned.m64n8k" + rest, kForHopper);
  };
  CHECK(sparse("32.f32.f16.f16" + d + "%l0, %l1, %r1, 1, %p1, 1, 1, 0, 0;") ==
        "");
  says(sparse("32.f32.f16.f16" + d + "%l0, %l1, %r1, 2, %p1, 1, 1, 0, 0;"),
       "the sparsity selector is 2, but this form has only 2");
  says(sparse("64.s32.s8.s8" + d + "%l0, %l1, %p1;"),
       "{d, ...}, a, b, metadata, selector, p, and numbers");
  says(sparse("16.f32.f16.f16" + d + "%l0, %l1, %r1, 0, %p1, 1, 1, 0, 0;"),
       "does not know this form of wgmma");
}

TEST_CASE("the selector of mma.sp is one that the form has") {
  const auto why = [&](const std::string& form, const char* selector) {
    return refusal("mma.sp.sync.aligned." + form +
                   " {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r2, %r3}, "
                   "{%r0, %r1, %r2, %r3}, %r1, " +
                   selector + ";");
  };
  const std::string halves = "m16n8k16.row.col.f32.f16.f16.f32";
  const std::string bytes = "m16n8k32.row.col.s32.s8.s8.s32";
  CHECK(why(halves, "3") == "");
  CHECK(why(bytes, "1") == "");
  says(why(halves, "4"),
       "the sparsity selector is 4, but this form has only 4");
  says(why(bytes, "2"), "the sparsity selector is 2, but this form has only 2");
}

TEST_CASE("operands that an instruction does not take are refused") {
  for (const char* statement : {"add.s32 %r1, %r2;",
                                "add.s32 %r1, %r2, %r3, %r1;",
                                "add.s32 %r1, %r2, %l3;",
                                "add.s32 %r1, %r2, %p1;",
                                "add.s32 5, %r2, %r3;",
                                "add.s32 %r1, %r2, !%r3;",
                                "add.s32 %r1|%p1, %r2, %r3;",
                                "add.s32 %r1, %r2, [there];",
                                "add.s32 %r1, %r2+4, 1;",
                                "add.s32 _, %r1, %r2;",
                                "add.s32 %r1, %r2, 0f3F800000;",
                                "add.f32 %r1, %r2, 1;",
                                "add.u32 %r1, %tid.x, 1;",
                                "mov.u64 %l1, %tid.x;",
                                "mov.u32 %r1, there;",
                                "mov.u32 %r1, unheard_of;",
                                "ld.global.u32 %h1, [there];",
                                "ld.global.u32 %r1, there;",
                                "ld.global.u32 %r1, [%tid.x];",
                                "ld.global.u32 %r1, [%p1];",
                                "ld.global.v2.u32 {%r1, %l2}, [there];",
                                "ld.global.v2.u32 {%r1, %r2, %r3}, [there];",
                                "ld.param.u64 %l1, [pointer+8];",
                                "ld.param.u64 %l1, [pointer+-8];",
                                "lop3.b32 %r1, %r2, %r3, %r1, 300;",
                                "lop3.b32 %r1, %r2, %r3, %r1, %r2;",
                                "bar.sync 0, 64, 5;",
                                "bra over+4; over:",
                                "@%r1 bra over; over:",
                                "setp.lt.f16 %p1|%p2, %h1, %h2;",
                                "cvt.u32.u16 %h1, %h2;",
                                "call callee, (%r1);",
                                "call callee, (), a, b, c;",
                                "call nobody;",
                                "exit 1;",
                                "mov.b32 %r1, (%h1, %h2);",
                                "mov.b32 %r1, {%h1, %r2};"})
    CHECK_MESSAGE(refusal(statement) != "", std::string(statement));
}

TEST_CASE("statements end where they should") {
  for (const char* statement :
       {"mov.u32 %r1, 1 2;", "mov.u32 %r1, %r2 %r3;", "mov.u32 %r1, %r2,;",
        "mov.u32 %r1, , %r2;", "ld.global.u32 %r1, [there;", "mov.u32 %r1",
        "ld.global.u32 %r1, [%l1-8];", "ld.global.u32 %r1, [%l1+%l2];",
        "@%p1|%p2 exit;", "@ exit;", "@!1 exit;", "mov.b32 %r1, {%h1 %h2};",
        "mov.u32 %r1, 5--;", "mov.u32 %r1, -%r2;", ": exit;", "5: exit;",
        "/* no end", "mov.u32 %r1, \"text"})
    CHECK_MESSAGE(refusal(statement) != "", std::string(statement));
}

TEST_CASE("expressions end where they should") {
  for (const char* expression :
       {"5/0",   "5 % 0", "(5",  "5)", "5+", "5+;",     "1?2",    "1?2:",
        "1.5*2", "2*1.5", "5 5", "~",  "!",  "(.u32)5", "(.u64)", "5 & & 3",
        "1+%r2", "7%3",   "5u",  "09", "()", "there*2"}) {
    const std::string statement = std::string("mov.b32 %r1, ") + expression;
    CHECK_MESSAGE(refusal(statement + ";") != "", statement);
  }
  const std::string deep(100000, '(');
  CHECK(refusal("mov.b32 %r1, " + deep + ";") != "");
  CHECK(refusal("mov.b32 %r1, " + std::string(100000, '-') + "5;") != "");
}

// ---- Numbers ----------------------------------------------------------------

TEST_CASE("numbers are right or refused") {
  const auto value = [](const std::string& text, int bytes = 8) {
    return parse_literal(text).value().as(bytes);
  };
  CHECK(value("12") == 12);
  CHECK(value("12U") == 12);
  CHECK(value("-5") == uint64_t(-5));
  CHECK(value("0x1F") == 31);
  CHECK(value("0XfU") == 15);
  CHECK(value("0b101") == 5);
  CHECK(value("017") == 15);
  CHECK(value("0") == 0);
  CHECK(value("0xFFFFFFFFFFFFFFFF") == ~uint64_t{0});
  CHECK(value("0f3F800000", 4) == 0x3f800000);
  CHECK_THROWS_AS(value("0f3F800000"), Error);
  CHECK(value("0d3FF0000000000000", 4) == 0x3f800000);
  CHECK(value("0f7FC12345", 4) == 0x7fc12345);
  CHECK(value("1.5", 4) == 0x3fc00000);
  CHECK(value("-1.5e+1") == 0xc02e000000000000);
  CHECK_FALSE(parse_literal("%r1"));
  CHECK_FALSE(parse_literal(""));
  CHECK_FALSE(parse_literal("-"));
  for (const char* text :
       {"12abc", "08", "0b102", "0x", "0b", "0xU", "12UU", "-0f3F800000",
        "0f3F8", "0d3FF", "0fGGGGGGGG", "1.5x", "18446744073709551616",
        "0x10000000000000000"})
    CHECK_THROWS_AS(parse_literal(text), Error);
}

TEST_CASE("types are those of PTX") {
  CHECK(parse_type("u32") == Type{'u', 4});
  CHECK(parse_type("s16x2").bytes == 4);
  for (const char* name :
       {"u7", "f8", "s1000", "b", "x32", "u032", "f16x4", ""})
    CHECK(parse_type(name).kind == 0);
}

// ---- Scopes -----------------------------------------------------------------

TEST_CASE("labels, registers and variables belong to their scope") {
  const std::string loop =
      "{ .reg .pred q; AGAIN: setp.eq.s32 q, %r1, 1; @q bra AGAIN; }";
  CHECK(refusal(loop + loop) == "");
  CHECK(refusal("{ L: { L: bra L; } bra L; }") == "");
  CHECK(refusal("{ bra OUT; } OUT: ret;") == "");
  CHECK(refusal("{ { bra OUT; } } { OUT: } OUT: ret;") == "");
  CHECK(refusal("{ T: .branchtargets A, B; brx.idx %r1, T; A: B: } A: ") == "");
  CHECK(refusal("T: .branchtargets A; { A: brx.idx %r1, T; } A: ") == "");
  CHECK(refusal("{ .reg .b64 %r1; mov.u64 %r1, 1; } mov.u32 %r1, 1;") == "");
  CHECK(refusal("{ .shared .b32 v; } { .shared .b32 v; }") == "");
  says(refusal("L: L: ret;"), "'L' is there twice");
  says(refusal("{ IN: } bra IN;"), "no label IN");
  says(refusal("bra NOWHERE;"), "no label NOWHERE");
  says(refusal("brx.idx %r1, T;"), "no .branchtargets T");
  says(refusal("T: .branchtargets A; { A: } brx.idx %r1, T;"), "no label A");
  says(refusal(".reg .b32 %r1;"), "'%r1' is there twice");
  says(refusal(".shared .b32 v; .shared .b32 v;"), "'v' is there twice");
  says(refusal("{ .reg .b32 %inner; } mov.u32 %inner, 1;"),
       "'%inner' is no register that is declared here");
}

// ---- Directives -------------------------------------------------------------

TEST_CASE("directives are accepted from a list") {
  for (const char* directive :
       {".maxntid 256, 1, 1", ".minnctapersm 2", ".maxnreg 64", ".noreturn",
        ".maxclusterrank 8", ".reqnctapercluster 2, 1, 1", ".explicitcluster",
        ".explicitcluster .reqnctapercluster 1", ".reqntid 8, 2, 4",
        ".blocksareclusters .reqntid 8 .reqnctapercluster 2",
        ".pragma \"nounroll\";"})
    CHECK(refusal_of_directive(directive) == "");
  says(refusal_of_directive(".reqnctapercluster 2, 0"), "an empty cluster");
  says(refusal_of_directive(".reqnctapercluster 1, 1, 1, 1"), "three");
  says(refusal_of_directive(".reqntid 32, 0"), "an empty block");
  says(refusal_of_directive(".reqntid 1, 1, 1, 1"), "three");
  says(refusal_of_directive(".reqntid 32 .maxntid 32"), ".maxntid");
  says(refusal_of_directive(".maxntid 64 .reqntid 32"), ".maxntid");
  says(refusal_of_directive(".blocksareclusters"), "without .reqntid");
  says(refusal_of_directive(".blocksareclusters .reqntid 32"), "without");
  says(refusal_of_directive(".pragma \"magic\";"), "magic");
  says(refusal_of_directive(".maxntid 12abc"), "12abc");
  says(refusal_of_directive(".maxntid 0"), "extent");
}

TEST_CASE("of modules, too") {
  const auto with = [](const std::string& line) {
    return why_not(kHead + line + "\n.visible .entry k() { ret; }\n");
  };
  for (const char* line :
       {".global .align 4 .u32 x = 5;", ".const .b8 t[3] = {1, 2, 3};",
        ".global .u64 p = generic(k)+8;", ".global .f32 f = 0f3F800000;",
        ".extern .shared .align 16 .b8 s[];", ".weak .global .u32 w;",
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);",
        ".func (.reg .b32 r) f(.reg .f64 a) { mov.u32 r, 1; ret; }",
        ".global .attribute(.managed) .u32 m;", "// only a comment"})
    CHECK_MESSAGE(with(line) == "", std::string(line));
  for (const char* line :
       {".alias a, k;",
        ".global .u32 x[];",
        ".global .align 3 .u32 x;",
        ".global .align 0 .u32 x;",
        ".global .u7 x;",
        ".global x;",
        ".global .u32 .u64 x;",
        ".global .u32 x = 08;",
        ".global .u32 x = 1.5;",
        ".global .b8 t[2] = {1, 2, 3};",
        ".global .b8 t[1][2] = {{1, 2}};",
        ".global .u32 x[99999999999999999999];",
        ".global .u32 x[4294967296][4294967296][4294967296];",
        ".global .attribute(.unified(1, 2)) .u32 x;",
        ".tex .u64 t;",
        ".version 4.2",
        ".target compute_90",
        ".address_size 32",
        ".loc 7 1 1",
        ".file 1",
        ".file 99999999999 \"a.cu\"",
        ".section .x {",
        ".visible .entry k() { ret; }",
        "\x01",
        "garbage",
        ".func f(.reg .pred p);"})
    CHECK_MESSAGE(with(line) != "", std::string(line));
}

// ---- Files that are linked
// ----------------------------------------------------

std::string from_file(const std::string& name, const std::string& text) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"" + name +
         "\"\n" + text + "\n";
}

// Why one.cu and two.cu cannot be linked, or "".
std::string why_not_linked(const std::string& one, const std::string& two) {
  const std::string first = from_file("one.cu", one);
  const std::string second = from_file("two.cu", two);
  try {
    link({{first}, {second}});
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST_CASE("what a file means is defined in another") {
  const std::string function = ".func _Z1fi(.param .b32 x)",
                    variable = ".global .u32 v";
  const auto wants = ".extern " + function + ";.extern " + variable + ";";
  const auto has =
      ".visible " + function + "{ ret; }.visible " + variable + " = 7;";
  CHECK(why_not_linked(wants, has) == "");
  CHECK(why_not_linked(has, wants) == "");
  CHECK(why_not_linked(".weak " + function + "{ ret; }",
                       ".weak " + function + "{ ret; }") == "");
  CHECK(why_not_linked(has, ".weak " + function + "{ ret; }") == "");
  CHECK(why_not_linked(".extern .func (.param .b32 r) vprintf(.param .b64 a, "
                       ".param .b64 b);",
                       "") == "");
  says(why_not_linked("", ".extern " + function + ";"),
       "undefined reference to 'f(int)' in two.cu");
  says(why_not_linked(wants, ".visible " + function + "{ ret; }"),
       "undefined reference to 'v' in one.cu");
  says(why_not_linked(wants, function + "{ ret; }" + variable + ";"),
       "undefined reference");  // It is two.cu's own.
  says(why_not_linked(has, has), "defined for the second time");
  says(why_not_linked(has, ".visible .const .u32 v;"), "another file");
  says(why_not_linked(".extern .func __cudaCDP2Memset3DAsync();", ""),
       "no cudaMemset3DAsync for kernels");
  const std::string alone = from_file("one.cu", ".extern " + variable + ";");
  CHECK_THROWS_AS(link({{alone}}), Error);
}

TEST_CASE("options for ptxas are read as nvcc writes them") {
  const std::string text = from_file("one.cu", "");
  const auto unit = [&](std::string_view options) {
    return link({{text, options}}).units[0];
  };
  CHECK(unit("").fuses);
  CHECK(unit("").level == 3);
  CHECK_FALSE(unit("--compile-only  --fmad false ").fuses);
  CHECK_FALSE(unit("-fmad=false ").fuses);
  CHECK_FALSE(unit("-fmad=true  --fmad false ").fuses);
  CHECK(unit("--generate-line-info --fmad=true").fuses);
  CHECK(unit("-O1  ").level == 1);
  CHECK(unit("--opt-level=0").level == 0);
  CHECK(unit(" -g --dont-merge-basicblocks --return-at-end ").level == 0);
}

TEST_CASE("what a file has for itself stays apart") {
  const std::string own =
      ".global .u32 v = 1;\n.func f() { .loc 1 5 0\nld.global.u32 %r1, [v]; }";
  const std::string one = from_file("one.cu", own);
  const std::string two = from_file("two.cu", own);
  ModuleText module = link({{one}, {two}});
  REQUIRE(module.variables.size() == 2);
  CHECK(module.variables[0].name != module.variables[1].name);
  REQUIRE(module.functions.size() == 2);
  std::set<std::string> means, places;
  for (auto& [name, function] : module.functions) {
    parse_body(module, function);
    REQUIRE(function.body.size() == 1);
    const Statement& load = function.body.front();
    means.insert(load.operands.at(1).text);
    places.insert(location_of(load.where, module.files));
  }
  CHECK(means == std::set<std::string>{module.variables[0].name,
                                       module.variables[1].name});
  CHECK(places == std::set<std::string>{"one.cu:5", "two.cu:5"});
}

TEST_CASE("what is too large is refused") {
  for (const char* statement :
       {".reg .b32 %x<4000000000>;", ".shared .b8 x[1000000];",
        ".local .b8 x[100000000];", ".local .b8 x[18446744073709551615];",
        ".reg .b64 %x<200000>; .reg .b64 %y<200000>;"})
    CHECK_MESSAGE(refusal(statement) != "", std::string(statement));
}

// ---- Names ------------------------------------------------------------------

TEST_CASE("a plain name is no type") {
  for (const char* name : {"s", "d", "k", "i", "f", "v", "Pf", "St"}) {
    CHECK(function_name(name) == name);
    CHECK(variable_name(name) == name);
  }
  CHECK(function_name("_Z10sum_kernelILi4EEvPKfi") == "sum_kernel<4>");
  CHECK(function_name("_ZN12_GLOBAL__N_11kEv") == "k");
  CHECK(variable_name("_ZN12_GLOBAL__N_17counterE") == "counter");
  CHECK(variable_name("_Znot_mangled") == "_Znot_mangled");
}

TEST_CASE("of what no demangler knows, the beginning is told") {
  CHECK(full_name("_ZN7cutlass6KernelIX2E") == "cutlass::Kernel<...>");
  CHECK(full_name("_Z6kernelIX2E") == "kernel<...>");
  CHECK(full_name("_Znot_mangled") == "_Znot_mangled");
}

TEST_CASE("a long name keeps what is outside of its arguments") {
  const std::string list = "a::b<" + std::string(200, 'x') + ">";
  CHECK(short_name(list) == "a::b<...>");
  CHECK(short_name("a::b<1>") == "a::b<1>");
  CHECK(short_name(std::string(200, 'x')) == std::string(200, 'x'));
}

TEST_CASE("a user's folder is not the toolkit's") {
  for (const char* path :
       {"/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_fp16.hpp",
        "/opt/cuda/targets/sbsa-linux/include/cuda_fp16.h",
        "/users/me/env/lib/python3.12/site-packages/nvidia/cu13/include/a.h",
        "/users/me/env/lib/site-packages/nvidia/curand/include/curand_kernel.h",
        "/users/me/ladder/.toolchain/cuda/nvidia/cu13/bin/../include/"
        "cuda_fp16.h",
        "/usr/include/c++/12/bits/move.h", "/usr/lib/gcc/x/include/a.h",
        "/usr/local/cuda-13.0/include/cub/cub.cuh"})
    CHECK_MESSAGE(is_toolkit_file(path), std::string(path));
  for (const char* path :
       {"/users/me/nvidia/relu.cu", "/users/me/targets/relu.cu",
        "nvidia/relu.cu", "/users/nvidia/include/relu.h",
        "/users/me/targets/mine/include/relu.h",
        "/users/me/site-packages/relu.cu", "/usr/me/relu.cu", "relu.cu",
        "/usr/local/src/relu.cu", "/usr/local/cudamine/relu.cu"})
    CHECK_MESSAGE(!is_toolkit_file(path), std::string(path));
}

// ---- Mutations --------------------------------------------------------------

// A little of everything.
constexpr const char* kModule = R"(
.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf
(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.extern .shared .align 16 .b8 dynamic[];
.global .align 1 .b8 text[4] = {37, 100, 10, 0};
.global .align 8 .u64 table[2] = {scale, generic(text)+1};
.const .align 4 .f32 weight = 0f3F800000;
.func (.param .b32 result) scale(.param .b32 value)
{
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [value];
  shl.b32 %r2, %r1, 1;
  st.param.b32 [result], %r2;
  ret;
}
.visible .entry everything(.param .u64 .ptr .global .align 4 out,
                           .param .u32 n)
.maxntid 256, 1, 1
.minnctapersm 2
{
  .reg .pred %p<6>;
  .reg .b16 %h<4>;
  .reg .b32 %r<24>;
  .reg .b64 %l<12>;
  .local .align 8 .b8 depot[16];
  .shared .align 4 .f32 box[32];
  .loc 1 5 3
  ld.param.u64 %l1, [out];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %l2, %l1;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r2, 0x10, -5;
  setp.ge.and.s32 %p1|%p2, %r2, %r1, !%p3;
  @%p1 bra DONE;
  mul.wide.u32 %l3, %r2, 4;
  add.s64 %l4, %l2, %l3;
  ld.global.nc.v2.u32 {%r4, %r5}, [%l4+8];
  fma.rn.ftz.f32 %r6, %r4, %r5, 0f40490FDB;
  shfl.sync.bfly.b32 %r7|%p4, %r6, 16, 31, -1;
  st.shared.f32 [box+4], %r7;
  bar.sync 0;
  atom.global.add.f32 %r8, [%l4], %r7;
  mov.b32 {%h1, %h2}, %r8;
  {
    .reg .pred q;
    .param .b32 argument;
    .param .b32 answer;
    st.param.b32 [argument], %r8;
    call.uni (answer), scale, (argument);
    ld.param.b32 %r9, [answer];
    LOOP: setp.lt.u32 q, %r9, 0b1000U;
    .pragma "nounroll";
    @q bra LOOP;
  }
  {
    .param .b32 argument;
    .param .b32 answer;
    ld.global.u64 %l5, [table];
    st.param.b32 [argument], 017;
    shape: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (answer), %l5, (argument), shape;
  }
  .loc 1 9 1, function_name $L__info, inlined_at 1 6 2
  SWITCH: .branchtargets FIRST, SECOND;
  brx.idx %r2, SWITCH;
  FIRST: lop3.b32 %r10, %r1, %r2, %r3, 150;
  bra.uni DONE;
  SECOND: vote.sync.ballot.b32 %r11, %p1, -1;
  add.u64 %l6, %SPL, 0;
  cvt.rn.f16.f32 %h3, %r6;
  st.local.u64 [depot+8], %l6;
  prmt.b32 %r12, %r10, %r11, 0x5410;
DONE:
  ret;
}
.file 1 "some.cu"
.section .debug_str
{
.b8 0
}
)";

class Mutations {
 public:
  explicit Mutations(uint32_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (int times = 1 + pick(3); times > 0; --times) text = once(text);
    return text;
  }

 private:
  size_t pick(size_t below) { return below ? random_() % below : 0; }

  // [begin, end) of a word, or of a line.
  std::pair<size_t, size_t> piece(const std::string& text) {
    const char* const separators = pick(2) ? "\n" : " \n\t,;";
    const size_t at = pick(text.size());
    const size_t begin = text.find_last_of(separators, at) + 1;
    const size_t end =
        std::min(text.find_first_of(separators, begin + 1), text.size());
    return {begin, std::max(begin, end)};
  }

  std::string once(const std::string& text) {
    static const std::vector<std::string> kOdd = {"4000000000",
                                                  "18446744073709551615",
                                                  "99999999999999999999",
                                                  "-1",
                                                  "0",
                                                  "0x",
                                                  "12abc",
                                                  "<",
                                                  ">",
                                                  "{",
                                                  "}",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  ";",
                                                  ":",
                                                  "|",
                                                  "!",
                                                  "@",
                                                  "\"",
                                                  "/*",
                                                  ".reg .b32 %x<4000000000>;",
                                                  ".align 0",
                                                  ".b128",
                                                  "_",
                                                  "%r1",
                                                  "%p1",
                                                  "%l1",
                                                  "box",
                                                  "scale",
                                                  "DONE",
                                                  "+",
                                                  "-",
                                                  "=",
                                                  ".loc 9 9 9",
                                                  "everything",
                                                  "SWITCH",
                                                  ".v4",
                                                  "call scale;",
                                                  "{{{{{{{{{{{{{{{{",
                                                  "0f3F800000",
                                                  "%clock64",
                                                  "WARP_SZ"};
    if (text.empty()) return text;
    const auto [begin, end] = piece(text);
    const auto [other, other_end] = piece(text);
    const std::string one = text.substr(begin, end - begin);
    const std::string two = text.substr(other, other_end - other);
    std::string out = text;
    switch (pick(7)) {
      case 0:
        return out.erase(begin, end - begin);
      case 1:
        return out.insert(begin, one + " ");
      case 2:
        return out.replace(begin, end - begin, two);
      case 3:
        out[pick(out.size())] = static_cast<char>(pick(256));
        return out;
      case 4:
        return out.substr(0, pick(out.size()));
      case 5:
        return out.insert(other, one);
      default:
        return out.replace(begin, end - begin, kOdd[pick(kOdd.size())]);
    }
  }

  std::mt19937 random_;
};

long kilobytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_CASE("a module with a little of everything is accepted") {
  std::string text = kModule;
  text.erase(text.find("  add.u64 %l6, %SPL, 0;"), 23);
  CHECK(why_not(text) == "");
  says(why_not(kModule), "%SPL");
}

TEST_CASE("mutated, it is accepted or refused, and nothing else") {
  using Clock = std::chrono::steady_clock;
  std::string seed = kModule;
  seed.erase(seed.find("  add.u64 %l6, %SPL, 0;"), 23);
  const long before = kilobytes();
  int accepted = 0, refused = 0;
  double slowest = 0;
  for (uint32_t number = 0; number < 5000; ++number) {
    CAPTURE(number);
    const std::string text = Mutations(number).mutate(seed);
    const auto started = Clock::now();
    const std::string why = why_not(text);  // Throws what is no Error.
    const std::chrono::duration<double> took = Clock::now() - started;
    slowest = std::max(slowest, took.count());
    ++(why.empty() ? accepted : refused);
  }
  CHECK(accepted > 100);
  CHECK(refused > 1000);
  CHECK(slowest < 1);
  CHECK(kilobytes() - before < 1 << 20);
}

TEST_CASE("functions that call one another, deeply or in a circle") {
  const auto chain = [](int functions) {
    std::string text = kHead;
    for (int k = functions - 1; k >= 0; --k) {
      const std::string next = std::to_string(k + 1);
      text += ".func f" + std::to_string(k) + "() { " +
              (k + 1 < functions ? "call f" + next + ";" : "call f0;") +
              " ret; }\n";
    }
    return text + ".visible .entry k() { call f0; ret; }\n";
  };
  CHECK(why_not(chain(1)) == "");
  CHECK(why_not(chain(200)) == "");
  says(why_not(chain(100000)), "deep");
}

TEST_CASE("scopes, however deep") {
  const int deep = 100000;
  CHECK(refusal(std::string(deep, '{') + std::string(deep, '}')) == "");
  CHECK(refusal(std::string(deep, '{')) != "");
  CHECK(refusal(std::string(deep, '}')) != "");
}

}  // namespace
