// The list of forms: every instruction that the executor accepts, with its
// modifiers and operands.
#include "common/simt/decode/forms.h"

namespace simt {
namespace {

// How the list is read:
//
//   {.sat}           may be left out          (.lo|.hi)  one of them
//   {.rn|.rz}        one of them, or none     <rnd>      what form_words() says
//
// Operands, as wide as the last type unless `.b32` and so on says how wide:
//
//   d           a register that is written    a b c e   what is read
//   p q         predicates, written and read  dp pq     two results: d|p, p|q
//   [a]         an address                    v         {%r1, %r2}: registers
//   d4 a4       four registers in braces, written and read
//   [t2]        an image or tensor and a place in it, of two coordinates
//   i           a number                      l         a label
//   _           itself: nobody wants it
//   -a          a with a minus before it
//   a:part      a, or a part of it: .b0 to .b3, .h0, .h1; d:part always one
//   a:halves    a, or halves of b and a, like .h30; d:halves: .h0, .h1, .h10
//   a:bytes     a, or bytes of b and a, like .b7210; d:bytes: like .b20
//   .any        as wide as the type, or wider
//   ...         the decoder looks at them
const std::map<std::string_view, std::string_view> kWords = {
    {"rnd", "(.rn|.rz|.rm|.rp)"},
    {"whole", "(.rni|.rzi|.rmi|.rpi)"},
    {"int", "(.u16|.s16|.u32|.s32|.u64|.s64)"},
    {"int8", "(.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64)"},
    {"half", "(.f16|.f16x2)"},
    {"bfloat", "(.bf16|.bf16x2)"},
    {"type8", "(.b8|.u8|.s8)"},
    {"type16", "(.b16|.u16|.s16)"},
    {"type32", "(.b32|.u32|.s32|.f32)"},
    {"type64", "(.b64|.u64|.s64|.f64)"},
    {"equal", "(.eq|.ne)"},
    {"order", "(.eq|.ne|.lt|.le|.gt|.ge)"},
    {"unsigned", "(.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs)"},
    {"compare",
     "(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan)"},
    {"bool", "(.and|.or|.xor)"},
    {"sparse", "(.sp|.sp::ordered_metadata)"},
    {"sign", "(.u32|.s32)"},
    {"signs", "<sign><sign>"},
    {"scale", "(.shr7|.shr15)"},
    {"scope", "(.cta|.cluster|.gpu|.sys)"},
    {"shared", "(.shared|.shared::cta)"},
    {"evict",
     "(.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|"
     ".L1::evict_last|.L1::no_allocate)"},
    {"prefetch", "(.L2::64B|.L2::128B|.L2::256B)"},
    {"first",
     "(.L2::evict_last|.L2::evict_normal|.L2::evict_first|"
     ".L2::evict_unchanged)"},
    {"second", "(.L2::evict_first|.L2::evict_unchanged)"},
    {"one", "(<type8>|<type16>|<type32>|<type64>) d.any, [a]"},
    {"data",
     "(<one>|.v2(<type8>|<type16>|<type32>|<type64>) v, [a]|"
     ".v4(<type8>|<type16>|<type32>) v, [a])"},
    {"one_stored", "(<type8>|<type16>|<type32>|<type64>) [a], b.any"},
    {"stored",
     "(<one_stored>|.v2(<type8>|<type16>|<type32>|<type64>) [a], v|"
     ".v4(<type8>|<type16>|<type32>) [a], v)"},
    {"float8", "(.e4m3|.e5m2)"},
    {"halves", "(.f16|.f16x2|.bf16|.bf16x2)"},
    {"eighths", "(.e4m3x2|.e5m2x2)"},
    {"whole8", ".row.col{.satfinite}.s32(.u8|.s8)(.u8|.s8).s32"},
    {"whole4", ".row.col{.satfinite}.s32(.u4|.s4)(.u4|.s4).s32"},
    {"bits1", ".row.col.s32.b1.b1.s32(.xor|.and).popc"},
    {"layout", "(.row|.col)"},
    {"layouts", "<layout><layout>"},
    {"wide", "(.m16n16k16|.m32n8k16|.m8n32k16)"},
    {"columns",
     "m64n(8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|"
     "168|176|184|192|200|208|216|224|232|240|248|256)"},
    {"some_columns",
     "m64n(8|16|24|32|48|64|80|96|112|128|144|160|176|192|208|224|240|256)"},
    {"from", "(.global|<shared>)"},
    {"where", "{<scope>}{.global|<shared>}"},
    {"where_too", "(.global|.shared)<scope>"},
    {"texel", "(.f32|.s32|.u32)"},
    {"surface", "({.v2|.v4}(.b8|.b16|.b32)|{.v2}.b64)(.trap|.clamp|.zero)"},
    {"cluster", "(.shared|.shared::cta|.shared::cluster)"},
    {"reduced",
     "(.add(.u32|.s32|.u64|.f32|.f64)|.add.noftz(.f16|.bf16)|"
     "(.min|.max)(.u32|.s32|.u64|.s64)|(.inc|.dec).u32|"
     "(.and|.or|.xor)(.b32|.b64))"},
    {"loaded",
     "(.shared::cluster|.shared::cta).global{.tile}"
     ".mbarrier::complete_tx::bytes"},
    {"multicast",
     ".shared::cluster.global{.tile}.mbarrier::complete_tx::bytes"
     ".multicast::cluster"},
    {"kept", ".global.shared::cta{.tile}.bulk_group"},
    {"combined",
     ".global.shared::cta(.add|.min|.max|.inc|.dec|.and|.or|.xor){.tile}"
     ".bulk_group"},
    {"told", "{.shared::cluster}.mbarrier::complete_tx::bytes"},
    {"handing", "{(.release|.relaxed)(.cta|.cluster)}"},
    {"awaiting", "{(.acquire|.relaxed)(.cta|.cluster)}"},
    {"updated",
     "(.add(.u32|.s32|.u64|.f32|.f64)|.add.noftz(<half>|<bfloat>)|"
     "(.min|.max)(.u32|.s32|.u64|.s64)|(.inc|.dec).u32|"
     "(.and|.or|.xor)(.b32|.b64))"},
};

const std::vector<FormGroup> kGroups = {
    {"Moves and selections",
     {
         "mov(<type16>|<type32>|<type64>|.b128) d, a",
         "mov(.b16|.b32|.b64|.b128) d, v",
         "mov(.b16|.b32|.b64|.b128) v, a",
         "mov.pred p, {!}q",
         "prmt.b32{.f4e|.b4e|.rc8|.ecl|.ecr|.rc16} d, a, b, c",
         "selp(<type16>|<type32>|<type64>) d, a, b, {!}q",
         "slct<type16>.s32 d.b16, a.b16, b.b16, c",
         "slct<type32>.s32 d, a, b, c",
         "slct<type64>.s32 d.b64, a.b64, b.b64, c",
         "slct{.ftz}<type16>.f32 d.b16, a.b16, b.b16, c",
         "slct{.ftz}<type32>.f32 d.b32, a.b32, b.b32, c",
         "slct{.ftz}<type64>.f32 d.b64, a.b64, b.b64, c",
     }},
    {"Integers",
     {
         "(add|sub)<int> d, a, b",
         "(add|sub).sat.s32 d, a, b",
         "(add|sub).cc(.u32|.s32|.u64|.s64) d, a, b",
         "(addc|subc){.cc}(.u32|.s32|.u64|.s64) d, a, b",
         "add(.u16x2|.s16x2) d, a, b",
         "mul(.lo|.hi)<int> d, a, b",
         "mul.wide(.u16|.s16) d.b32, a, b",
         "mul.wide(.u32|.s32) d.b64, a, b",
         "mad(.lo|.hi)<int> d, a, b, c",
         "mad.wide(.u16|.s16) d.b32, a, b, c.b32",
         "mad.wide(.u32|.s32) d.b64, a, b, c.b64",
         "mad.hi.sat.s32 d, a, b, c",
         "mad(.lo|.hi).cc(.u32|.s32|.u64|.s64) d, a, b, c",
         "madc(.lo|.hi){.cc}(.u32|.s32|.u64|.s64) d, a, b, c",
         "mul24(.lo|.hi)(.u32|.s32) d, a, b",
         "mad24(.lo|.hi)(.u32|.s32) d, a, b, c",
         "mad24.hi.sat.s32 d, a, b, c",
         "sad<int> d, a, b, c",
         "(div|rem)<int> d, a, b",
         "(abs|neg)(.s16|.s32|.s64) d, a",
         "(min|max)<int> d, a, b",
         "(min|max).relu.s32 d, a, b",
         "(min|max)(.u16x2|.s16x2) d, a, b",
         "(min|max).relu.s16x2 d, a, b",
         "dp4a(.u32|.s32)(.u32|.s32) d, a, b, c",
         "dp2a(.lo|.hi)(.u32|.s32)(.u32|.s32) d, a, b, c",
     }},
    {"Video",
     {
         "(vadd|vsub|vabsdiff|vmin|vmax)<sign><signs> d, a:part, b:part",
         "(vadd|vsub|vabsdiff|vmin|vmax)<sign><signs> d:part, a:part, b:part, "
         "c",
         "(vadd|vsub|vabsdiff|vmin|vmax)<sign><signs>.add d, a:part, b:part, c",
         "(vadd|vsub|vabsdiff|vmin|vmax).s32<signs>.sat d, a:part, b:part",
         "(vadd|vsub|vabsdiff|vmin|vmax).s32<signs>.sat.add "
         "d, a:part, b:part, c",
         "(vadd|vsub|vabsdiff|vmin|vmax).s32<signs>{.sat}(.min|.max) "
         "d, a:part, b:part, c",
         "vadd.u32.s32.s32.sat d, a:part, b:part",
         "vsub.u32(.u32.u32|.s32.u32|.s32.s32).sat d, a:part, b:part",
         "vabsdiff.u32(.u32.u32|.s32.s32).sat d, a:part, b:part",
         "(vmin|vmax).u32<signs>.sat d, a:part, b:part",
         "vset<signs><order> d, a:part, b:part",
         "vset<signs><order> d:part, a:part, b:part, c",
         "vset<signs><order>(.add|.min|.max) d, a:part, b:part, c",
         "(vshl|vshr)<sign><sign>.u32(.clamp|.wrap) d, a:part, b:part",
         "(vshl|vshr)<sign><sign>.u32(.clamp|.wrap) d:part, a:part, b:part, c",
         "(vshl|vshr)<sign><sign>.u32(.clamp|.wrap).add d, a:part, b:part, c",
         "(vshl|vshr).s32<sign>.u32(.clamp|.wrap)(.min|.max) "
         "d, a:part, b:part, c",
         "vshr<sign><sign>.u32.sat(.clamp|.wrap) d, a:part, b:part",
         "vmad<sign><signs>{.po} d, a:part, b:part, c",
         "vmad<sign><signs> d, (-a:part, b:part, c|a:part, -b:part, c|"
         "-a:part, -b:part, c|a:part, b:part, -c)",
         "vmad<sign>.s32.s32{.po}(.sat{<scale>}|<scale>) d, a:part, b:part, c",
         "vmad<sign>.s32.s32(.sat{<scale>}|<scale>) d, (-a:part, b:part, c|"
         "a:part, b:part, -c)",
         "(vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2)<sign><signs>{.sat|.add} "
         "d:halves, a:halves, b:halves, c",
         "(vabsdiff2|vabsdiff4).u32.u32.u32{.add} d, a, b, c",
         "vset2<signs><order>{.add} d:halves, a:halves, b:halves, c",
         "(vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4)<sign><signs>{.sat|.add} "
         "d:bytes, a:bytes, b:bytes, c",
         "vset4<signs><order>{.add} d:bytes, a:bytes, b:bytes, c",
     }},
    {"Bits",
     {
         "(and|or|xor)(.b16|.b32|.b64) d, a, b",
         "(and|or|xor).pred p, {!}q, {!}q",
         "(not|cnot)(.b16|.b32|.b64) d, a",
         "not.pred p, {!}q",
         "shl(.b16|.b32|.b64) d, a, b.b32",
         "shr(.b16|.b32|.b64|<int>) d, a, b.b32",
         "shf(.l|.r)(.clamp|.wrap).b32 d, a, b, c",
         "lop3.b32 d, a, b, c, i",
         "lop3(.or|.and).b32 dp, a, b, c, i, {!}q",
         "(popc|clz)(.b32|.b64) d.b32, a",
         "bfind{.shiftamt}(.u32|.s32|.u64|.s64) d.b32, a",
         "brev(.b32|.b64) d, a",
         "bfe(.u32|.s32|.u64|.s64) d, a, b.b32, c.b32",
         "bfi(.b32|.b64) d, a, b, c.b32, e.b32",
         "bmsk(.clamp|.wrap).b32 d, a, b",
         "szext(.clamp|.wrap)(.u32|.s32) d, a, b",
         "fns.b32 d, a, b, c",
     }},
    {"Floating point",
     {
         "(add|sub|mul){<rnd>}{.ftz}{.sat}.f32 d, a, b",
         "(add|sub|mul){<rnd>}.f64 d, a, b",
         "(fma|mad)<rnd>{.ftz}{.sat}.f32 d, a, b, c",
         "(fma|mad)<rnd>.f64 d, a, b, c",
         "div(<rnd>|.approx|.full){.ftz}.f32 d, a, b",
         "div<rnd>.f64 d, a, b",
         "(rcp|sqrt)(<rnd>|.approx){.ftz}.f32 d, a",
         "(rcp|sqrt)<rnd>.f64 d, a",
         "(rcp|rsqrt).approx.ftz.f64 d, a",
         "rsqrt.approx{.ftz}.f32 d, a",
         "rsqrt.approx.f64 d, a",
         "(sin|cos|lg2|ex2).approx{.ftz}.f32 d, a",
         "tanh.approx.f32 d, a",
         "(abs|neg){.ftz}.f32 d, a",
         "(abs|neg).f64 d, a",
         "(min|max){.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b",
         "(min|max).f64 d, a, b",
         "copysign(.f32|.f64) d, a, b",
         "testp(.finite|.infinite|.number|.notanumber|.normal|.subnormal)"
         "(.f32|.f64) p, a",
     }},
    {"Half and bfloat16",
     {
         "(add|sub|mul){.rn}{.ftz}{.sat}<half> d, a, b",
         "(add|sub|mul){.rn}<bfloat> d, a, b",
         "fma.rn{.ftz}{.sat|.relu}<half> d, a, b, c",
         "fma.rn{.relu}<bfloat> d, a, b, c",
         "(abs|neg){.ftz}<half> d, a",
         "(abs|neg)<bfloat> d, a",
         "(min|max){.ftz}{.NaN}{.xorsign.abs}<half> d, a, b",
         "(min|max){.NaN}{.xorsign.abs}<bfloat> d, a, b",
         "tanh.approx(<half>|<bfloat>) d, a",
         "ex2.approx<half> d, a",
         "ex2.approx.ftz<bfloat> d, a",
     }},
    {"Comparisons",
     {
         "setp<equal>(.b16|.b32|.b64) (p|pq), a, b",
         "setp<order>(.s16|.s32|.s64) (p|pq), a, b",
         "setp<unsigned>(.u16|.u32|.u64) (p|pq), a, b",
         "setp<compare>{.ftz}.f32 (p|pq), a, b",
         "setp<compare>.f64 (p|pq), a, b",
         "setp<compare>{.ftz}.f16 p, a, b",
         "setp<compare>.bf16 p, a, b",
         "setp<compare>{.ftz}.f16x2 pq, a, b",
         "setp<compare>.bf16x2 pq, a, b",
         "setp<equal><bool>(.b16|.b32|.b64) (p|pq), a, b, {!}q",
         "setp<order><bool>(.s16|.s32|.s64) (p|pq), a, b, {!}q",
         "setp<unsigned><bool>(.u16|.u32|.u64) (p|pq), a, b, {!}q",
         "setp<compare><bool>{.ftz}.f32 (p|pq), a, b, {!}q",
         "setp<compare><bool>.f64 (p|pq), a, b, {!}q",
         "setp<compare><bool>{.ftz}.f16 p, a, b, {!}q",
         "setp<compare><bool>.bf16 p, a, b, {!}q",
         "setp<compare><bool>{.ftz}.f16x2 pq, a, b, {!}q",
         "setp<compare><bool>.bf16x2 pq, a, b, {!}q",
         "set<equal>(.u32|.s32|.f32)(.b16|.b32|.b64) d.b32, a, b",
         "set<order>(.u32|.s32|.f32)(.s16|.s32|.s64) d.b32, a, b",
         "set<unsigned>(.u32|.s32|.f32)(.u16|.u32|.u64) d.b32, a, b",
         "set<compare>{.ftz}(.u32|.s32|.f32).f32 d.b32, a, b",
         "set<compare>(.u32|.s32|.f32).f64 d.b32, a, b",
         "set<compare>{.ftz}(.f16|.u16|.s16).f16 d.b16, a, b",
         "set<compare>{.ftz}(.u32|.s32).f16 d.b32, a, b",
         "set<compare>(.bf16|.u16|.s16).bf16 d.b16, a, b",
         "set<compare>(.u32|.s32).bf16 d.b32, a, b",
         "set<compare>{.ftz}(.f16x2|.u32|.s32).f16x2 d, a, b",
         "set<compare>(.bf16x2|.u32|.s32).bf16x2 d, a, b",
         "set<equal><bool>(.u32|.s32|.f32)(.b16|.b32|.b64) d.b32, a, b, {!}q",
         "set<order><bool>(.u32|.s32|.f32)(.s16|.s32|.s64) d.b32, a, b, {!}q",
         "set<unsigned><bool>(.u32|.s32|.f32)(.u16|.u32|.u64) d.b32, a, b, "
         "{!}q",
         "set<compare><bool>{.ftz}(.u32|.s32|.f32).f32 d.b32, a, b, {!}q",
         "set<compare><bool>(.u32|.s32|.f32).f64 d.b32, a, b, {!}q",
         "set<compare><bool>{.ftz}(.f16|.u16|.s16).f16 d.b16, a, b, {!}q",
         "set<compare><bool>{.ftz}(.u32|.s32).f16 d.b32, a, b, {!}q",
         "set<compare><bool>(.bf16|.u16|.s16).bf16 d.b16, a, b, {!}q",
         "set<compare><bool>(.u32|.s32).bf16 d.b32, a, b, {!}q",
         "set<compare><bool>{.ftz}(.f16x2|.u32|.s32).f16x2 d, a, b, {!}q",
         "set<compare><bool>(.bf16x2|.u32|.s32).bf16x2 d, a, b, {!}q",
     }},
    {"Conversions",
     {
         "cvt<int8><int8> d.any, a.any",
         "cvt.sat.u8(.s8|.u16|.s16|.u32|.s32|.u64|.s64) d.any, a.any",
         "cvt.sat.s8(.u8|.u16|.s16|.u32|.s32|.u64|.s64) d.any, a.any",
         "cvt.sat.u16(.s8|.s16|.u32|.s32|.u64|.s64) d.any, a.any",
         "cvt.sat.s16(.u16|.u32|.s32|.u64|.s64) d.any, a.any",
         "cvt.sat.u32(.s8|.s16|.s32|.u64|.s64) d.any, a.any",
         "cvt.sat.s32(.u32|.u64|.s64) d.any, a.any",
         "cvt.sat.u64(.s8|.s16|.s32|.s64) d.any, a.any",
         "cvt.sat.s64.u64 d.any, a.any",
         "cvt<rnd>{.sat}.f16<int8> d.b16, a.any",
         "cvt<rnd>{.sat}.f32<int8> d.b32, a.any",
         "cvt<rnd>{.sat}.f64<int8> d.b64, a.any",
         "cvt<rnd>.bf16<int> d.b16, a.any",
         "cvt<whole>{.ftz}{.sat}<int8>.f32 d.any, a",
         "cvt<whole>{.sat}<int8>(.f16|.f64) d.any, a",
         "cvt<whole><int>.bf16 d.any, a",
         "cvt<whole>(.u8|.s8).bf16 d.b8, a",
         "cvt{<whole>}{.ftz}{.sat}.f32.f32 d, a",
         "cvt{<whole>}{.sat}.f64.f64 d, a",
         "cvt{<whole>}{.sat}.f16.f16 d, a",
         "cvt{<whole>}.bf16.bf16 d, a",
         "cvt{.ftz}{.sat}.f64.f32 d.b64, a",
         "cvt<rnd>{.ftz}{.sat}.f32.f64 d.b32, a",
         "cvt{.ftz}{.sat}.f32.f16 d.b32, a",
         "cvt{.sat}.f64.f16 d.b64, a",
         "cvt{.ftz}.f32.bf16 d.b32, a",
         "cvt.f64.bf16 d.b64, a",
         "cvt<rnd>{.ftz}{.sat}.f16.f32 d.b16, a",
         "cvt<rnd>{.sat}.f16.f64 d.b16, a",
         "cvt<rnd>.f16.bf16 d, a",
         "cvt<rnd>.bf16.f16 d, a",
         "cvt<rnd>.bf16(.f32|.f64) d.b16, a",
         "cvt(.rn|.rz)(.relu{.satfinite}|.satfinite)(.f16|.bf16).f32 d.b16, a",
         "cvt(.rn|.rz){.relu}{.satfinite}(.f16x2|.bf16x2).f32 d, a, b",
         "cvt(.rn|.rz){.relu}.tf32.f32 d, a",
         "cvt.rna{.satfinite}.tf32.f32 d, a",
         "cvt.rn.satfinite{.relu}<eighths>.f32 d.b16, a, b",
         "cvt.rn.satfinite{.relu}<eighths>.f16x2 d.b16, a",
         "cvt.rn{.relu}.f16x2<eighths> d, a.b16",
         "cvt.pack.sat(.u16|.s16).s32 d, a, b",
         "cvt.pack.sat(.u8|.s8).s32.b32 d, a, b, c",
     }},
    {"Loads and stores",
     {
         "ld{.weak}{.global}{.ca|.cg|.cs|.lu|.cv|<evict>}{<prefetch>}<data>",
         "ld{.weak}(.local|<shared>){.ca|.cg|.cs|.lu|.cv}<data>",
         "ld{.weak}(.const|.param|.param::entry|.param::func)<data>",
         "ld.volatile{.global}{<prefetch>}<data>",
         "ld.volatile<shared><data>",
         "ld(.relaxed|.acquire)<scope>{.global}{<evict>}{<prefetch>}<data>",
         "ld(.relaxed|.acquire)<scope><shared><data>",
         "ld.mmio.relaxed.sys{.global}<one>",
         "ld{.weak}{.global|.local|.const|<shared>}.b128 d.any, [a]",
         "ld.volatile{.global|<shared>}.b128 d.any, [a]",
         "ld(.relaxed|.acquire)<where>.b128 d.any, [a]",
         "ld.global{.ca|.cg|.cs}.nc{<prefetch>}<data>",
         "ld.global.nc<evict>{<prefetch>}<data>",
         "ld{.weak}{.global}{.ca|.cg|.cs|.lu|.cv|<evict>}.L2::cache_hint"
         "{<prefetch>}<data>, e.b64",
         "ld(.relaxed|.acquire)<scope>{.global}{<evict>}.L2::cache_hint"
         "{<prefetch>}<data>, e.b64",
         "ld.global{.ca|.cg|.cs|<evict>}.nc.L2::cache_hint{<prefetch>}<data>, "
         "e.b64",
         "ldu{.global}<data>",
         "st{.weak}{.global}{.wb|.cg|.cs|.wt|<evict>}<stored>",
         "st{.weak}(.local|<shared>){.wb|.cg|.cs|.wt}<stored>",
         "st{.weak}(.param|.param::func)<stored>",
         "st.volatile{.global|<shared>}<stored>",
         "st(.relaxed|.release)<scope>{.global}{<evict>}<stored>",
         "st{.weak}{.global}{.wb|.cg|.cs|.wt|<evict>}.L2::cache_hint<stored>, "
         "e.b64",
         "st(.relaxed|.release)<scope>{.global}{<evict>}.L2::cache_hint"
         "<stored>, e.b64",
         "st(.relaxed|.release)<scope><shared><stored>",
         "st.mmio.relaxed.sys{.global}<one_stored>",
         "st{.weak}{.global|.local|<shared>}.b128 [a], b.any",
         "st.volatile{.global|<shared>}.b128 [a], b.any",
         "st(.relaxed|.release)<where>.b128 [a], b.any",
         "prefetch{.global|.local}(.L1|.L2) [a]",
         "prefetch.global(.L2::evict_last|.L2::evict_normal) [a]",
         "prefetchu.L1 [a]",
         "prefetch{.param|.const}.tensormap [a]",
         "alloca(.u32|.u64) d, a{, i}",
         "stacksave(.u32|.u64) d",
         "stackrestore(.u32|.u64) a",
         "applypriority{.global}.L2::evict_normal [a], i",
         "discard{.global}.L2 [a], i",
         "createpolicy.fractional<first>{<second>}.b64 d{, a.f32}",
         "createpolicy.range{.global}<first>{<second>}.b64 d, [a], b.b32, "
         "c.b32",
         "createpolicy.cvt.L2.b64 d, a",
         "cvta(.global|.local|<shared>|.const|.param).u64 d, a",
         "cvta.to(.global|.local|<shared>|.const|.param).u64 d, a",
         "isspacep(.global|.local|<cluster>|.const|.param|.param::entry) p, "
         "a.b64",
     }},
    {"Atomics and fences",
     {
         "atom{.relaxed|.acquire|.release|.acq_rel}<where><updated> d, [a], b",
         "atom{.relaxed|.acquire|.release|.acq_rel}<where>.exch(.b32|.b64|."
         "b128) d, "
         "[a], b",
         "atom{.relaxed|.acquire|.release|.acq_rel}<where>"
         ".cas(.b16|.b32|.b64|.b128) d, [a], b, c",
         "red{.relaxed|.release}<where><updated> [a], b",
         // As nvcc and its headers write them: the scope behind the space, and
         // how memory is ordered behind the operation.
         "atom<where_too><updated> d, [a], b",
         "atom<where_too>.exch(.b32|.b64|.b128) d, [a], b",
         "atom<where_too>.cas(.b16|.b32|.b64|.b128) d, [a], b, c",
         "atom.add.release.gpu.u32 d, [a], b",
         "atom.add(.relaxed|.acquire)(.cta|.gpu).u32 d, [a], b",
         "red<where_too><updated> [a], b",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}{.global}.add"
         "(.v2.f32 d2, [a], b2|.v4.f32 d4, [a], b4)",
         "atom.global<scope>.add(.v2.f32 d2, [a], b2|.v4.f32 d4, [a], b4)",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}{.global}"
         "(.add|.min|.max).noftz(.v2<halves> d2, [a], b2|"
         ".v4<halves> d4, [a], b4|.v8(.f16|.bf16) d8, [a], b8)",
         "red{.relaxed|.release}{<scope>}{.global}"
         "(.add(.v2.f32 [a], b2|.v4.f32 [a], b4)|(.add|.min|.max).noftz"
         "(.v2<halves> [a], b2|.v4<halves> [a], b4|"
         ".v8(.f16|.bf16) [a], b8))",
         "red.global<scope>.add(.v2.f32 [a], b2|.v4.f32 [a], b4)",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}{.global}"
         ".L2::cache_hint<updated> d, [a], b, e.b64",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}{.global}"
         ".exch.L2::cache_hint(.b32|.b64|.b128) d, [a], b, e.b64",
         "red{.relaxed|.release}{<scope>}{.global}.L2::cache_hint<updated> "
         "[a], b, e.b64",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}{.global}.add"
         ".L2::cache_hint(.v2.f32 d2, [a], b2|.v4.f32 d4, [a], b4), e.b64",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}{.global}"
         "(.add|.min|.max).noftz.L2::cache_hint(.v2<halves> d2, [a], b2|"
         ".v4<halves> d4, [a], b4|.v8(.f16|.bf16) d8, [a], b8), e.b64",
         "red{.relaxed|.release}{<scope>}{.global}"
         "(.add.L2::cache_hint(.v2.f32 [a], b2|.v4.f32 [a], b4)|"
         "(.add|.min|.max).noftz.L2::cache_hint(.v2<halves> [a], b2|"
         ".v4<halves> [a], b4|.v8(.f16|.bf16) [a], b8)), e.b64",
         "membar(.cta|.gl|.sys)",
         "fence{.sc|.acq_rel}<scope>",
         "fence.proxy.async{.global|.shared::cta|.shared::cluster}",
         "fence.proxy.alias",
         "fence.mbarrier_init.release.cluster",
         "fence.proxy.tensormap::generic.release<scope>",
         "fence.proxy.tensormap::generic.acquire<scope> [a], i",
     }},
    {"Clusters",
     {
         "ld{.weak|.volatile}.shared::cluster<data>",
         "ld(.relaxed|.acquire)<scope>.shared::cluster<data>",
         "st{.weak|.volatile}.shared::cluster<stored>",
         "st(.relaxed|.release)<scope>.shared::cluster<stored>",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}.shared::cluster"
         "<updated> d, [a], b",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}.shared::cluster"
         ".exch(.b32|.b64|.b128) d, [a], b",
         "atom{.relaxed|.acquire|.release|.acq_rel}{<scope>}.shared::cluster"
         ".cas(.b16|.b32|.b64|.b128) d, [a], b, c",
         "red{.relaxed|.release}{<scope>}.shared::cluster<updated> [a], b",
         "cvta{.to}.shared::cluster.u64 d, a",
         "mapa{.shared::cluster}(.u32|.u64) d, a, b.b32",
         "getctarank{.shared::cluster}(.u32|.u64) d.b32, a",
         "barrier.cluster.arrive{.release|.relaxed}{.aligned}",
         "barrier.cluster.wait{.acquire}{.aligned}",
     }},
    {"Textures and surfaces",
     {
         "tex.1d.v4<texel>(.s32|.f32) d4.b32, [t1]",
         "tex.2d.v4<texel>.f32 d4.b32, [t2]",
         "tex.3d.v4<texel>.f32 d4.b32, [t4]",
         "tex.a1d.v4<texel>.f32 d4.b32, [t2]",
         "tex.a2d.v4<texel>.f32 d4.b32, [t4]",
         "tex.cube.v4<texel>.f32 d4.b32, [t4]",
         "tex.acube.v4<texel>.f32 d4.b32, [t4]",
         "tex.level.1d.v4<texel>.f32 d4.b32, [t1], a",
         "tex.level(.2d|.a1d).v4<texel>.f32 d4.b32, [t2], a",
         "tex.level(.3d|.a2d|.cube|.acube).v4<texel>.f32 d4.b32, [t4], a",
         "tex.grad.1d.v4<texel>.f32 d4.b32, [t1], a1, b1",
         "tex.grad.2d.v4<texel>.f32 d4.b32, [t2], a2, b2",
         "tex.grad.3d.v4<texel>.f32 d4.b32, [t4], a4, b4",
         "tex.grad.a1d.v4<texel>.f32 d4.b32, [t2], a1, b1",
         "tex.grad.a2d.v4<texel>.f32 d4.b32, [t4], a2, b2",
         "tld4(.r|.g|.b|.a).2d.v4<texel>.f32 d4.b32, [t2]",
         "suld.b.1d<surface> v, [t1]",
         "suld.b(.2d|.a1d)<surface> v, [t2]",
         "suld.b(.3d|.a2d)<surface> v, [t4]",
         "sust.b.1d<surface> [t1], v",
         "sust.b(.2d|.a1d)<surface> [t2], v",
         "sust.b(.3d|.a2d)<surface> [t4], v",
         "(txq|suq)(.width|.height|.depth).b32 d, [t0]",
     }},
    {"Asynchronous copies",
     {
         "cp.async.ca<shared>.global{<prefetch>} [a], [a], i{, c.b32}",
         "cp.async.ca<shared>.global{<prefetch>} [a], [a], i, {!}q",
         "cp.async.ca<shared>.global.L2::cache_hint{<prefetch>} "
         "[a], [a], i{, c.b32}, e.b64",
         "cp.async.ca<shared>.global.L2::cache_hint{<prefetch>} "
         "[a], [a], i, {!}q, e.b64",
         "cp.async.cg<shared>.global{<prefetch>} [a], [a], i{, c.b32}",
         "cp.async.cg<shared>.global{<prefetch>} [a], [a], i, {!}q",
         "cp.async.cg<shared>.global.L2::cache_hint{<prefetch>} "
         "[a], [a], i{, c.b32}, e.b64",
         "cp.async.cg<shared>.global.L2::cache_hint{<prefetch>} "
         "[a], [a], i, {!}q, e.b64",
         "cp.async.commit_group",
         "cp.async.wait_group i",
         "cp.async.wait_all",
         "cp.async.bulk(.shared::cluster|.shared::cta).global"
         ".mbarrier::complete_tx::bytes [a], [a], b, [a]",
         "cp.async.bulk(.shared::cluster|.shared::cta).global"
         ".mbarrier::complete_tx::bytes.L2::cache_hint [a], [a], b, [a], e.b64",
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
         ".multicast::cluster [a], [a], b, [a], c.b16",
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
         ".multicast::cluster.L2::cache_hint [a], [a], b, [a], c.b16, e.b64",
         "cp.async.bulk.shared::cluster.shared::cta"
         ".mbarrier::complete_tx::bytes [a], [a], b, [a]",
         "cp.async.bulk.global.shared::cta.bulk_group [a], [a], b",
         "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint "
         "[a], [a], b, e.b64",
         "cp.reduce.async.bulk.global.shared::cta.bulk_group<reduced> "
         "[a], [a], b.b32",
         "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint"
         "<reduced> [a], [a], b.b32, e.b64",
         "cp.async.bulk.commit_group",
         "cp.async.bulk.wait_group{.read} i",
         "cp.async.bulk.prefetch.L2.global [a], b",
         "cp.async.bulk.prefetch.L2.global.L2::cache_hint [a], b, e.b64",
         "cp.async.bulk.tensor.1d<loaded> [a], [t1], [a]",
         "cp.async.bulk.tensor.1d<loaded>.L2::cache_hint "
         "[a], [t1], [a], e.b64",
         "cp.async.bulk.tensor.1d<multicast> [a], [t1], [a], c.b16",
         "cp.async.bulk.tensor.1d<multicast>.L2::cache_hint "
         "[a], [t1], [a], c.b16, e.b64",
         "cp.async.bulk.tensor.1d<kept> [t1], [a]",
         "cp.async.bulk.tensor.1d<kept>.L2::cache_hint [t1], [a], e.b64",
         "cp.reduce.async.bulk.tensor.1d<combined> [t1], [a]",
         "cp.reduce.async.bulk.tensor.1d<combined>.L2::cache_hint "
         "[t1], [a], e.b64",
         "cp.async.bulk.prefetch.tensor.1d.L2.global{.tile} [t1]",
         "cp.async.bulk.prefetch.tensor.1d.L2.global{.tile}.L2::cache_hint "
         "[t1], e.b64",
         "cp.async.bulk.tensor.2d<loaded> [a], [t2], [a]",
         "cp.async.bulk.tensor.2d<loaded>.L2::cache_hint "
         "[a], [t2], [a], e.b64",
         "cp.async.bulk.tensor.2d<multicast> [a], [t2], [a], c.b16",
         "cp.async.bulk.tensor.2d<multicast>.L2::cache_hint "
         "[a], [t2], [a], c.b16, e.b64",
         "cp.async.bulk.tensor.2d<kept> [t2], [a]",
         "cp.async.bulk.tensor.2d<kept>.L2::cache_hint [t2], [a], e.b64",
         "cp.reduce.async.bulk.tensor.2d<combined> [t2], [a]",
         "cp.reduce.async.bulk.tensor.2d<combined>.L2::cache_hint "
         "[t2], [a], e.b64",
         "cp.async.bulk.prefetch.tensor.2d.L2.global{.tile} [t2]",
         "cp.async.bulk.prefetch.tensor.2d.L2.global{.tile}.L2::cache_hint "
         "[t2], e.b64",
         "cp.async.bulk.tensor.3d<loaded> [a], [t3], [a]",
         "cp.async.bulk.tensor.3d<loaded>.L2::cache_hint "
         "[a], [t3], [a], e.b64",
         "cp.async.bulk.tensor.3d<multicast> [a], [t3], [a], c.b16",
         "cp.async.bulk.tensor.3d<multicast>.L2::cache_hint "
         "[a], [t3], [a], c.b16, e.b64",
         "cp.async.bulk.tensor.3d<kept> [t3], [a]",
         "cp.async.bulk.tensor.3d<kept>.L2::cache_hint [t3], [a], e.b64",
         "cp.reduce.async.bulk.tensor.3d<combined> [t3], [a]",
         "cp.reduce.async.bulk.tensor.3d<combined>.L2::cache_hint "
         "[t3], [a], e.b64",
         "cp.async.bulk.prefetch.tensor.3d.L2.global{.tile} [t3]",
         "cp.async.bulk.prefetch.tensor.3d.L2.global{.tile}.L2::cache_hint "
         "[t3], e.b64",
         "cp.async.bulk.tensor.4d<loaded> [a], [t4], [a]",
         "cp.async.bulk.tensor.4d<loaded>.L2::cache_hint "
         "[a], [t4], [a], e.b64",
         "cp.async.bulk.tensor.4d<multicast> [a], [t4], [a], c.b16",
         "cp.async.bulk.tensor.4d<multicast>.L2::cache_hint "
         "[a], [t4], [a], c.b16, e.b64",
         "cp.async.bulk.tensor.4d<kept> [t4], [a]",
         "cp.async.bulk.tensor.4d<kept>.L2::cache_hint [t4], [a], e.b64",
         "cp.reduce.async.bulk.tensor.4d<combined> [t4], [a]",
         "cp.reduce.async.bulk.tensor.4d<combined>.L2::cache_hint "
         "[t4], [a], e.b64",
         "cp.async.bulk.prefetch.tensor.4d.L2.global{.tile} [t4]",
         "cp.async.bulk.prefetch.tensor.4d.L2.global{.tile}.L2::cache_hint "
         "[t4], e.b64",
         "cp.async.bulk.tensor.5d<loaded> [a], [t5], [a]",
         "cp.async.bulk.tensor.5d<loaded>.L2::cache_hint "
         "[a], [t5], [a], e.b64",
         "cp.async.bulk.tensor.5d<multicast> [a], [t5], [a], c.b16",
         "cp.async.bulk.tensor.5d<multicast>.L2::cache_hint "
         "[a], [t5], [a], c.b16, e.b64",
         "cp.async.bulk.tensor.5d<kept> [t5], [a]",
         "cp.async.bulk.tensor.5d<kept>.L2::cache_hint [t5], [a], e.b64",
         "cp.reduce.async.bulk.tensor.5d<combined> [t5], [a]",
         "cp.reduce.async.bulk.tensor.5d<combined>.L2::cache_hint "
         "[t5], [a], e.b64",
         "cp.async.bulk.prefetch.tensor.5d.L2.global{.tile} [t5]",
         "cp.async.bulk.prefetch.tensor.5d.L2.global{.tile}.L2::cache_hint "
         "[t5], e.b64",
         "cp.async.mbarrier.arrive{.noinc}{<shared>}.b64 [a]",
         "st.async{.weak}<told>(.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64) "
         "[a], b, [a]",
         "st.async{.weak}<told>.v2(.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64) "
         "[a], b2, [a]",
         "st.async{.weak}<told>.v4(.b32|.u32|.s32|.f32) [a], b4, [a]",
         "red.async.relaxed.cluster<told>((.inc|.dec).u32|"
         "(.min|.max)(.u32|.s32)|.add(.u32|.s32|.u64)|(.and|.or|.xor).b32) "
         "[a], b, [a]",
     }},
    {"Barriers in shared memory",
     {
         "mbarrier.init{<shared>}.b64 [a], b.b32",
         "mbarrier.inval{<shared>}.b64 [a]",
         "mbarrier(.arrive|.arrive_drop)<handing>{<shared>}.b64 (d|_), "
         "[a]{, b.b32}",
         "mbarrier(.arrive|.arrive_drop)<handing>.shared::cluster.b64 _, "
         "[a]{, b.b32}",
         "mbarrier(.arrive|.arrive_drop).expect_tx<handing>{<shared>}.b64 "
         "(d|_), [a], b.b32",
         "mbarrier(.arrive|.arrive_drop).expect_tx<handing>.shared::cluster"
         ".b64 _, [a], b.b32",
         "mbarrier(.arrive|.arrive_drop).noComplete{.release.cta}{<shared>}"
         ".b64 (d|_), [a], b.b32",
         "mbarrier(.expect_tx|.complete_tx){.relaxed(.cta|.cluster)}"
         "{<cluster>}.b64 [a], b.b32",
         "mbarrier.test_wait<awaiting>{<shared>}.b64 p, [a], b",
         "mbarrier.test_wait.parity<awaiting>{<shared>}.b64 p, [a], b.b32",
         "mbarrier.try_wait<awaiting>{<shared>}.b64 p, [a], b{, c.b32}",
         "mbarrier.try_wait.parity<awaiting>{<shared>}.b64 p, [a], b.b32"
         "{, c.b32}",
         "mbarrier.pending_count.b64 d.b32, a",
     }},
    {"Warps and blocks",
     {
         "shfl.sync(.up|.down|.bfly|.idx).b32 (d|dp), a, b, c, e",
         "vote.sync(.all|.any|.uni).pred p, {!}q, a.b32",
         "vote.sync.ballot.b32 d, {!}q, a",
         "match.any.sync(.b32|.b64) d.b32, a, b.b32",
         "match.all.sync(.b32|.b64) (d.b32|dp.b32), a, b.b32",
         "redux.sync(.add|.min|.max)(.u32|.s32) d, a, b.b32",
         "redux.sync(.and|.or|.xor).b32 d, a, b",
         "elect.sync dp.b32, a.b32",
         "activemask.b32 d",
         "bar.warp.sync a.b32",
         "(bar{.cta}|barrier{.cta}).sync a.b32{, b.b32}",
         "barrier{.cta}.sync.aligned a.b32{, b.b32}",
         "(bar{.cta}|barrier{.cta}).arrive a.b32, b.b32",
         "barrier{.cta}.arrive.aligned a.b32, b.b32",
         "bar{.cta}.red.popc.u32 d, a{, b}, {!}q",
         "bar{.cta}.red(.and|.or).pred p, a.b32{, b.b32}, {!}q",
         "barrier{.cta}.red.popc{.aligned}.u32 d, a{, b}, {!}q",
         "barrier{.cta}.red(.and|.or){.aligned}.pred p, a.b32{, b.b32}, {!}q",
     }},
    {"Matrices",
     {
         "mma.sync.aligned.m8n8k4<layouts>.f16.f16.f16.f16 "
         "d4.b32, a2.b32, b2.b32, c4.b32",
         "mma.sync.aligned.m8n8k4<layouts>.f32.f16.f16.f16 "
         "d8.b32, a2.b32, b2.b32, c4.b32",
         "mma.sync.aligned.m8n8k4<layouts>.f32.f16.f16.f32 d8, a2, b2, c8",
         "mma.sync.aligned.m16n8k16.row.col.f32(.f16.f16|.bf16.bf16).f32 "
         "d4, a4, b2, c4",
         "mma.sync.aligned.m16n8k8.row.col.f32(.f16.f16|.bf16.bf16).f32 "
         "d4, a2, b1, c4",
         "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
         "d2.b32, a4.b32, b2.b32, c2.b32",
         "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
         "d2.b32, a2.b32, b1.b32, c2.b32",
         "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 d4, a4, b2, c4",
         "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 d4, a2, b1, c4",
         "mma.sync.aligned.m16n8k32.row.col.f32<float8><float8>.f32 "
         "d4, a4, b2, c4",
         "mma.sync.aligned.m16n8k16.row.col.f32<float8><float8>.f32 "
         "d4, a2, b1, c4",
         "mma.sync.aligned.m16n8k32.row.col.f16<float8><float8>.f16 "
         "d2.b32, a4.b32, b2.b32, c2.b32",
         "mma.sync.aligned.m16n8k16.row.col.f16<float8><float8>.f16 "
         "d2.b32, a2.b32, b1.b32, c2.b32",
         "mma.sync.aligned.m8n8k4.row.col{<rnd>}.f64.f64.f64.f64 "
         "d2, a1, b1, c2",
         "mma.sync.aligned.m16n8k4.row.col{<rnd>}.f64.f64.f64.f64 "
         "d4, a2, b1, c4",
         "mma.sync.aligned.m16n8k8.row.col{<rnd>}.f64.f64.f64.f64 "
         "d4, a4, b2, c4",
         "mma.sync.aligned.m16n8k16.row.col{<rnd>}.f64.f64.f64.f64 "
         "d4, a8, b4, c4",
         "mma.sync.aligned(.m8n8k16<whole8>|.m8n8k32<whole4>) d2, a1, b1, c2",
         "mma.sync.aligned(.m16n8k16<whole8>|.m16n8k32<whole4>) "
         "d4, a2, b1, c4",
         "mma.sync.aligned(.m16n8k32<whole8>|.m16n8k64<whole4>) "
         "d4, a4, b2, c4",
         "mma.sync.aligned.m8n8k128<bits1> d2.b32, a1.b32, b1.b32, c2.b32",
         "mma.sync.aligned.m16n8k128<bits1> d4.b32, a2.b32, b1.b32, c4.b32",
         "mma.sync.aligned.m16n8k256<bits1> d4.b32, a4.b32, b2.b32, c4.b32",
         "mma<sparse>.sync.aligned.m16n8k16.row.col"
         ".f32(.f16.f16|.bf16.bf16).f32 d4, a2, b2, c4, e.b32, i",
         "mma<sparse>.sync.aligned.m16n8k32.row.col"
         ".f32(.f16.f16|.bf16.bf16).f32 d4, a4, b4, c4, e.b32, i",
         "mma<sparse>.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
         "d2.b32, a2.b32, b2.b32, c2.b32, e.b32, i",
         "mma<sparse>.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
         "d2.b32, a4.b32, b4.b32, c2.b32, e.b32, i",
         "mma<sparse>.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
         "d4, a2, b2, c4, e.b32, i",
         "mma<sparse>.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 "
         "d4, a4, b4, c4, e.b32, i",
         "mma<sparse>.sync.aligned.m16n8k64.row.col.f32<float8><float8>.f32 "
         "d4, a4, b4, c4, e.b32, i",
         "mma<sparse>.sync.aligned(.m16n8k32<whole8>|.m16n8k64<whole4>) "
         "d4, a2, b2, c4, e.b32, i",
         "mma<sparse>.sync.aligned(.m16n8k64<whole8>|.m16n8k128<whole4>) "
         "d4, a4, b4, c4, e.b32, i",
         // The second as programs write it that are older than the first.
         "ldmatrix.sync.aligned.m8n8.x1{.trans}{<shared>}.b16 d1.b32, [a]",
         "ldmatrix.sync.aligned.m8n8.x2{.trans}{<shared>}.b16 d2.b32, [a]",
         "ldmatrix.sync.aligned.m8n8.x4{.trans}{<shared>}.b16 d4.b32, [a]",
         "ldmatrix.sync.aligned.x1{.trans}.m8n8{<shared>}.b16 d1.b32, [a]",
         "ldmatrix.sync.aligned.x2{.trans}.m8n8{<shared>}.b16 d2.b32, [a]",
         "ldmatrix.sync.aligned.x4{.trans}.m8n8{<shared>}.b16 d4.b32, [a]",
         "stmatrix.sync.aligned.m8n8.x1{.trans}{<shared>}.b16 [a], b1.b32",
         "stmatrix.sync.aligned.m8n8.x2{.trans}{<shared>}.b16 [a], b2.b32",
         "stmatrix.sync.aligned.m8n8.x4{.trans}{<shared>}.b16 [a], b4.b32",
         "movmatrix.sync.aligned.m8n8.trans.b16 d.b32, a.b32",
         "wmma.mma.sync.aligned<layouts><wide>.f16.f16 "
         "d4.b32, a8.b32, b8.b32, c4.b32",
         "wmma.mma.sync.aligned<layouts><wide>.f16.f32 "
         "d4.b32, a8.b32, b8.b32, c8.b32",
         "wmma.mma.sync.aligned<layouts><wide>.f32.f16 "
         "d8.b32, a8.b32, b8.b32, c4.b32",
         "wmma.mma.sync.aligned<layouts><wide>.f32.f32 "
         "d8.b32, a8.b32, b8.b32, c8.b32",
         "wmma.mma.sync.aligned<layouts>.m16n16k16.f32.bf16.bf16.f32 "
         "d8, a4, b4, c8",
         "wmma.mma.sync.aligned<layouts>.m32n8k16.f32.bf16.bf16.f32 "
         "d8, a8, b2, c8",
         "wmma.mma.sync.aligned<layouts>.m8n32k16.f32.bf16.bf16.f32 "
         "d8, a2, b8, c8",
         "wmma.mma.sync.aligned<layouts>.m16n16k8.f32.tf32.tf32.f32 "
         "d8, a4, b4, c8",
         "wmma.mma.sync.aligned<layouts>.m8n8k4(<rnd>.f64.f64.f64.f64|"
         ".f64.f64.f64.f64{<rnd>}) d2, a1, b1, c2",
         "wmma.mma.sync.aligned<layouts>.m16n16k16.s32(.s8.s8|.u8.u8).s32"
         "{.satfinite} d8, a2, b2, c8",
         "wmma.mma.sync.aligned<layouts>.m32n8k16.s32(.s8.s8|.u8.u8).s32"
         "{.satfinite} d8, a4, b1, c8",
         "wmma.mma.sync.aligned<layouts>.m8n32k16.s32(.s8.s8|.u8.u8).s32"
         "{.satfinite} d8, a1, b4, c8",
         "wmma.mma.sync.aligned.row.col.m8n8k32.s32(.s4.s4|.u4.u4).s32"
         "{.satfinite} d2, a1, b1, c2",
         "wmma.mma(.xor|.and).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 "
         "d2, a1, b1, c2",
         "wmma.load(.a|.b).sync.aligned<layout><wide>{<from>}.f16 "
         "d8.b32, [a]{, b.b32}",
         "wmma.load(.a|.b).sync.aligned<layout>.m16n16k16{<from>}.bf16 "
         "d4.b32, [a]{, b.b32}",
         "wmma.load.a.sync.aligned<layout>.m32n8k16{<from>}.bf16 "
         "d8.b32, [a]{, b.b32}",
         "wmma.load.b.sync.aligned<layout>.m32n8k16{<from>}.bf16 "
         "d2.b32, [a]{, b.b32}",
         "wmma.load.a.sync.aligned<layout>.m8n32k16{<from>}.bf16 "
         "d2.b32, [a]{, b.b32}",
         "wmma.load.b.sync.aligned<layout>.m8n32k16{<from>}.bf16 "
         "d8.b32, [a]{, b.b32}",
         "wmma.load(.a|.b).sync.aligned<layout>.m16n16k8{<from>}.tf32 "
         "d4.b32, [a]{, b.b32}",
         "wmma.load(.a|.b).sync.aligned<layout>.m16n16k16{<from>}(.s8|.u8) "
         "d2.b32, [a]{, b.b32}",
         "wmma.load.a.sync.aligned<layout>.m32n8k16{<from>}(.s8|.u8) "
         "d4.b32, [a]{, b.b32}",
         "wmma.load.b.sync.aligned<layout>.m32n8k16{<from>}(.s8|.u8) "
         "d1.b32, [a]{, b.b32}",
         "wmma.load.a.sync.aligned<layout>.m8n32k16{<from>}(.s8|.u8) "
         "d1.b32, [a]{, b.b32}",
         "wmma.load.b.sync.aligned<layout>.m8n32k16{<from>}(.s8|.u8) "
         "d4.b32, [a]{, b.b32}",
         "wmma.load(.a.sync.aligned.row|.b.sync.aligned.col)"
         "(.m8n8k32{<from>}(.s4|.u4)|.m8n8k128{<from>}.b1) "
         "d1.b32, [a]{, b.b32}",
         "wmma.load(.a|.b).sync.aligned<layout>.m8n8k4{<from>}.f64 "
         "d1, [a]{, b.b32}",
         "wmma.load.c.sync.aligned<layout><wide>{<from>}.f16 "
         "d4.b32, [a]{, b.b32}",
         "wmma.load.c.sync.aligned<layout>"
         "(<wide>{<from>}(.f32|.s32)|.m16n16k8{<from>}.f32) "
         "d8, [a]{, b.b32}",
         "wmma.load.c.sync.aligned<layout>"
         "((.m8n8k32|.m8n8k128){<from>}.s32|.m8n8k4{<from>}.f64) "
         "d2, [a]{, b.b32}",
         "wmma.store.d.sync.aligned<layout><wide>{<from>}.f16 "
         "[a], b4.b32{, c.b32}",
         "wmma.store.d.sync.aligned<layout>"
         "(<wide>{<from>}(.f32|.s32)|.m16n16k8{<from>}.f32) "
         "[a], b8{, c.b32}",
         "wmma.store.d.sync.aligned<layout>"
         "((.m8n8k32|.m8n8k128){<from>}.s32|.m8n8k4{<from>}.f64) "
         "[a], b2{, c.b32}",
     }},
    {"Tensor maps that kernels change, for sm_90a",
     {
         "tensormap.replace.tile.global_address{.global|.shared::cta}"
         ".b1024.b64 [a], b",
         "tensormap.replace.tile(.global_dim|.box_dim|.element_stride)"
         "{.global|.shared::cta}.b1024.b32 [a], i, b",
         "tensormap.replace.tile.rank{.global|.shared::cta}.b1024.b32 [a], b",
         "tensormap.replace.tile"
         "(.elemtype|.interleave_layout|.swizzle_mode|.fill_mode)"
         "{.global|.shared::cta}.b1024.b32 [a], i",
         "tensormap.replace.tile.global_stride{.global|.shared::cta}"
         ".b1024.b64 [a], i, b",
         "tensormap.cp_fenceproxy.global.shared::cta"
         ".tensormap::generic.release<scope>.sync.aligned [a], [a], i",
     }},
    {"Matrices of four warps, for sm_90a",
     {
         "wgmma.mma_async.sync.aligned.<columns>k16(.f16|.f32).f16.f16 ...",
         "wgmma.mma_async.sync.aligned.<columns>k16.f32.bf16.bf16 ...",
         "wgmma.mma_async.sync.aligned.<columns>k8.f32.tf32.tf32 ...",
         "wgmma.mma_async.sync.aligned.<columns>k32(.f16|.f32)<float8><float8> "
         "...",
         "wgmma.mma_async.sync.aligned.<some_columns>k32.s32(.s8|.u8)(.s8|.u8)"
         "{.satfinite} ...",
         "wgmma.mma_async.sync.aligned.<some_columns>k256.s32.b1.b1.and.popc "
         "...",
         "wgmma.mma_async.sp.sync.aligned.<columns>k32(.f16|.f32).f16.f16 ...",
         "wgmma.mma_async.sp.sync.aligned.<columns>k32.f32.bf16.bf16 ...",
         "wgmma.mma_async.sp.sync.aligned.<columns>k16.f32.tf32.tf32 ...",
         "wgmma.mma_async.sp.sync.aligned.<columns>k64(.f16|.f32)"
         "<float8><float8> ...",
         "wgmma.mma_async.sp.sync.aligned.<some_columns>k64.s32(.s8|.u8)"
         "(.s8|.u8){.satfinite} ...",
         "wgmma.fence.sync.aligned",
         "wgmma.commit_group.sync.aligned",
         "wgmma.wait_group.sync.aligned i",
         "setmaxnreg(.inc|.dec).sync.aligned.u32 i",
     }},
    {"Control",
     {
         "bra{.uni} l",
         "brx.idx{.uni} a.b32, l",
         "call{.uni} ...",
         "ret{.uni}",
         "exit",
         "trap",
         "brkpt",
         "nanosleep.u32 a",
         "pmevent{.mask} i",
         "griddepcontrol(.launch_dependents|.wait)",
     }},
};

}  // namespace

const std::vector<FormGroup>& form_groups() { return kGroups; }

const std::map<std::string_view, std::string_view>& form_words() {
  return kWords;
}

}  // namespace simt
