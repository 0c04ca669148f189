# Kernel Ladder: build, check, measure and compare the chapters' kernels.
# `make` alone prints what it can do.
#
# There is no list of chapters or contracts in here. A chapter is a file
# chapters/NN_name/<op>.cu; it is linked with whatever else is named after its
# op: tests/<op>_test.cpp, plots/<op>_bench.cpp. What belongs to an open task's
# contract lies in one folder, common/classroom/tasks/<op>/.

MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)  # The first build is the long one.
endif
ifeq ($(filter clean,$(MAKECMDGOALS))$(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
SHELL := /bin/bash
# What tools say is read, and what a shell sorts is compiled in that order.
export LC_ALL := C.UTF-8
CXX := $(if $(filter default,$(origin CXX)),g++,$(CXX))
PYTHON ?= python3
export PYTHONPATH := docs:common$(PYTHONPATH:%=:%)
.DEFAULT_GOAL := help
GOALS := $(or $(MAKECMDGOALS),help)

.SECONDARY:  # Objects are kept.
.DELETE_ON_ERROR:

# ---- What there is ----------------------------------------------------------

KERNELS   := $(sort $(wildcard chapters/[0-9][0-9]_*/*.cu))
SOURCES   := $(filter-out %.exercise.cu,$(KERNELS))
EXERCISES := $(filter %.exercise.cu,$(KERNELS))  # A student's copy lacks solutions.
TASKS     := common/classroom/tasks

# chapters/NN_name/<op>.four.cu -> NN, <op>.four, <op>, .four, NN.four; of a
# chapter with several contracts, those without an exercise are NN.<op>.
number  = $(firstword $(subst _, ,$(word 2,$(subst /, ,$1))))
stem    = $(basename $(notdir $1))
op      = $(firstword $(subst ., ,$(notdir $1)))
variant = $(patsubst $(call op,$1)%,%,$(call stem,$1))
beside  = $(if $(wildcard $(dir $1)$(call op,$1).exercise.cu),,.$(call op,$1))
name    = $(call number,$1)$(call beside,$1)$(call variant,$1)

NAMES   := $(foreach s,$(SOURCES),$(call name,$s))
NUMBERS := $(sort $(foreach s,$(SOURCES),$(call number,$s)))
OPS     := $(sort $(foreach s,$(KERNELS),$(call op,$s)) $(notdir $(wildcard $(TASKS)/*)))
TURNS   := $(sort $(foreach s,$(EXERCISES),$(call number,$s)))

# The folder of a contract that is an open task's, or nothing.
task = $(wildcard $(TASKS)/$1)

# The sources of chapter $1: all, or without the variants.
sources = $(filter chapters/$1_%,$(SOURCES))
plain   = $(foreach s,$(call sources,$1),$(if $(call variant,$s),,$s))

# Kinds of measurements with a command of their own, make NAME: plots/NAME.py, or NAME.cu for
# docs/ladder/measured/NAME.py. A line of each says what it does, and one what it needs built,
# where % stands for each chapter's file that takes part.
TIMED_BY := $(filter-out %_peers.py %_steps.cu,$(wildcard plots/*.py plots/*.cu))
TIMED    := $(call stem,$(TIMED_BY))
STEPS_OF  = $(foreach s,$(SOURCES),$(if $(wildcard plots/$(call op,$s)_steps.cu),$(s:.cu=.steps)))
told_by   = $(shell sed -En 's~^(\#|//) ($2)~$3~p' $1)
LISTED    = $(subst $(space)$(newline),$(newline),$(foreach f,$(TIMED_BY),$(newline)$(call told_by,$f,make \w+  ,\2)))
needs     = $(addprefix $(B)/,$(foreach f,$(call told_by,$1,needs: ),$(if $(findstring %,$f),$(filter $f,$(STEPS_OF)),$f)))

# What a file is compared with: the chapter before that fulfils the same
# contract; for a variant, its chapter's own file.
$(foreach s,$(SOURCES),$(if $(call variant,$s),,\
  $(eval BEFORE.$s := $(NEWEST.$(call op,$s)))\
  $(eval NEWEST.$(call op,$s) := $s)))
before = $(if $(call variant,$1),$(wildcard $(dir $1)$(call op,$1).cu),$(BEFORE.$1))

define newline


endef
LISTING := $(foreach n,$(NAMES),$(newline)    chapter$n)

STEPS := start exercise hint predict bugs  # A student's, each with a number.
NUMBERED := chapter% diff% ptx% bench% profile% test% $(STEPS:=%)
KNOWN := $(foreach g,diff% bench% test%,$(NUMBERS:%=$g)) \
  $(foreach g,$(STEPS:=%),$(TURNS:%=$g)) \
  $(foreach g,chapter% ptx% profile%,$(NAMES:%=$g))
UNKNOWN := $(filter $(NUMBERED),$(filter-out bench profile test test-all test-classroom $(STEPS) $(KNOWN),$(GOALS)))
MEANT := $(filter $(KNOWN),$(foreach g,$(NUMBERED),$(patsubst $g,$(subst %,0%,$g),$(UNKNOWN))))
ifneq ($(UNKNOWN),)
$(error There is no $(UNKNOWN).$(if $(MEANT), Did you mean $(MEANT)?)$(newline)The chapters are$(LISTING)$(newline)\
There are diffNN, ptxNN, profileNN, benchNN and testNN for each number, too,$(newline)\
and $(STEPS:=NN))
endif

# `make profile` first builds what `make run` would or, of a file with a main of
# its own, `make program`.
PROFILED := $(if $(filter profile,$(GOALS)),$(if $(and $(filter 1,$(words $(SRC))),$(filter \
  $(OPS),$(call op,$(SRC))),$(shell grep -qsw main '$(SRC)' || echo none)),run,program))
GOALS := $(PROFILED) $(GOALS)

ifneq ($(filter run,$(GOALS)),)
ifneq ($(words $(SRC)),1)
$(error Say which file, without spaces: make run SRC=path/to/file.cu)
endif
ifeq ($(and $(filter %.cu,$(SRC)),$(wildcard $(SRC))),)
$(error SRC=$(SRC): there is no such .cu file)
endif
ifeq ($(filter $(OPS),$(call op,$(SRC))),)
$(error $(SRC) would fulfil a contract '$(call op,$(SRC))',$(newline)the file's \
name up to the first dot, and there is none.$(newline)The contracts are: $(OPS).$(newline)\
If it has its own main: make program SRC=$(SRC))
endif
endif

# ---- What it runs on --------------------------------------------------------

GRADING := $(filter grade regrade,$(GOALS))
FOUND := $(if $(GRADING),cpu grades go by what the executor counts,$(shell common/setup/backend.sh))
WHY   := $(if $(BACKEND),BACKEND=$(BACKEND) says so,$(wordlist 2,99,$(FOUND)))
BACKEND := $(or $(BACKEND),$(firstword $(FOUND)))
ifeq ($(filter gpu cpu,$(BACKEND)),)
$(error BACKEND=$(BACKEND) is neither gpu nor cpu)
endif
ifeq ($(BACKEND)$(if $(GRADING),grading),gpugrading)
$(error Grades go by what the executor counts: leave BACKEND=gpu out. TIMES=yes times hand-ins on a GPU, too)
endif

PAPERWORK := handout formats leaderboard gradescope  # Of the classroom: nothing is compiled for it.
NEEDS_NOTHING := help clean doctor diff% compare plots figures weave start% hint% $(PAPERWORK) \
  $(if $(filter cpu,$(BACKEND)),bench% peers $(TIMED))
# A student's commands take any Python that reads TOML: the checks' own has 30 MB to fetch.
STUDENTS := $(STEPS:=%) watch progress
ifneq ($(filter $(STUDENTS),$(GOALS)),)
READS_TOML := $(shell $(PYTHON) -c 'import tomllib' 2>/dev/null && echo yes)
endif
NEEDS_PYTHON := test% plots figures weave $(if $(READS_TOML),,$(STUDENTS)) grade regrade $(PAPERWORK)

ifneq ($(filter-out $(NEEDS_NOTHING),$(GOALS)),)
ifeq ($(MAKE_RESTARTS)$(MAKELEVEL),0)
$(shell echo "Backend: $(BACKEND), because $(WHY)." >&2)
endif
include .toolchain/$(BACKEND).mk
endif
ifneq ($(filter $(NEEDS_PYTHON),$(GOALS)),)
include .toolchain/python.mk
endif

# The set-up writes these files, once; make then starts anew and reads them.
.toolchain/%.mk: always
	@common/setup/ensure.sh $* >&2

ifeq ($(BACKEND)$(filter profile,$(GOALS)),gpuprofile)
$(error make profile SRC= counts line by line, which a GPU does not: add BACKEND=cpu)
endif

# ---- How it is compiled and linked ------------------------------------------

# SANITIZE=address,undefined: what g++ compiles looks for its own mistakes, and
# ends the program at the first. MARCH=x86-64-v3: the executor for any processor
# with AVX2, instead of for this one.
B := build/$(BACKEND)$(if $(SANITIZE),.sanitized)$(MARCH:%=.%)
HARNESS := $(B)/common/harness
suite = $(B)/$(or $(call task,$1),tests)/$1_test.o
calls = $(B)/$(or $(call task,$1),plots)/$1_count.o
SANITIZED := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)

comma := ,
# The libraries that the executor has stand-ins for, each in a folder of common/simt.
STAND_INS := nccl cublas curand
ifeq ($(BACKEND),gpu)
ARCH     ?= $(if $(filter gpu,$(firstword $(FOUND))),native,all)
ARCHITECTURE := -arch=$(ARCH)
HOPPER   := -gencode arch=compute_90a,code=sm_90a
TARGET   := $(ARCHITECTURE) -lineinfo
OPTIMISED := -O2
HOST     := -O3
RUNTIME  :=
CUDART   := -L$(CUDA)/lib64 -Wl,-rpath,$(realpath $(CUDA)/lib64) -lcudart -lpthread
LDLIBS   := $(CUDART)
# NCCL is no part of the toolkit. A program that calls it is linked with it; without it,
# what includes its header is left out, aloud.
NCCL_THERE := $(shell CUDA='$(CUDA)' PYTHON='$(PYTHON)' common/setup/nccl.sh)
NCCL     := $(word 1,$(NCCL_THERE))
with_library = -Wl,--as-needed $1 -Wl,--no-as-needed,-rpath,$(realpath $(dir $1))
LDLIBS   += $(if $(NCCL),$(call with_library,$(word 2,$(NCCL_THERE))))
# The others are the toolkit's, but not all packages of it have them.
OF_TOOLKIT := $(foreach l,$(filter-out nccl,$(STAND_INS)),$(if $(wildcard $(CUDA)/lib64/lib$l.so),$l))
LDLIBS   += $(if $(OF_TOOLKIT),-Wl$(comma)--as-needed $(OF_TOOLKIT:%=-l%) -Wl$(comma)--no-as-needed)
NOT_HERE := $(filter-out $(if $(NCCL),nccl) $(OF_TOOLKIT),$(STAND_INS))
LEFT_OUT := $(foreach l,$(NOT_HERE),$(shell grep -ls '^#include <$l\(_v2\)\?\.h>' \
  $(SOURCES) $(wildcard plots/*.cu tests/programs/*.cu tests/simt/*.cu)))
$(LEFT_OUT:%.cu=$(B)/%.o): always
	@echo "$(@:$(B)/%.o=%.cu) needs $(NOT_HERE): 'make doctor' says how to get it." >&2; exit 1
BENCH    := $(addprefix $(HARNESS)/,bench.o bench_options.o empty_kernel.o read_kernel.o)
measure   = $(if $(call task,$1),$(HARNESS)/unmeasured.o,$(B)/plots/$1_bench.o $(BENCH))
$(B)/%.run: LDLIBS := -lbenchmark $(LDLIBS)
else
# PTX and no machine code; common/simt stands in for NVIDIA's runtime library.
ARCHITECTURE := -gencode arch=compute_90,code=compute_90
HOPPER   := -gencode arch=compute_90a,code=compute_90a
TARGET   := $(ARCHITECTURE) --no-compress -cudart none -lineinfo
# Without a GPU what only prints need not be fast at all, nor what only launches.
OPTIMISED := -O1
HOST     := -O0
LINKER   := $(GOLD)  # In half the time, where it works.
RUNTIME  := $(B)/libsimt.a
LDLIBS   := -pthread
NCCL     := $(STAND_INS:%=common/simt/%)  # Where their headers are: real ones are no use here.
# Few files call a library, and the others do not wait until what stands in for it is compiled.
wants = $(patsubst %,$(B)/lib%.a,$(sort $(shell sed -nE 's/^#include <($(subst $(space),|,$(STAND_INS)))(_v2)?\.h>.*/\1/p' $1 2>&-)))
LAUNCHES := kernels profile
measure   = $(calls) $(HARNESS)/counters.o $(SHOW)
endif
SHOW     := $(HARNESS)/show/all.o
CHECKS   := $(HARNESS)/checks/all.o
NVBASE   := -ccbin $(CXX) -I. $(NCCL:%=-I%) $(CPPFLAGS)
NVFLAGS  := -std=c++20 $(HOST) $(NVBASE)
CXXFLAGS := -std=c++20 $(OPTIMISED) -Wall -Wextra $(SANITIZED) -I. $(NCCL:%=-I%) $(CPPFLAGS) \
  -isystem $(CUDA)/include
# g++ 12 warns where strings are added, wrongly: its bug 105329.
# Nobody asks which floating-point exceptions occurred, so vectors may compute
# what a branch would skip; that halves the time of f16 arithmetic on AVX2. To tidy
# its memory up would cost g++ a tenth of the time that the large folders take,
# and save a fifth of 1 GB.
SIMTFLAGS := -march=$(or $(MARCH),native) -ffp-contract=off -fno-math-errno \
  -fno-trapping-math -pthread -Wno-restrict -Wno-stringop-overflow \
  -Wno-array-bounds --param ggc-min-expand=100 --param ggc-min-heapsize=1000000

# Every object depends on this file, which changes when a flag, a tool or the
# machine that `native` means does. Where the build fails, no older ./run stays.
MACHINE := $(shell grep -h -m 1 -i -E '^(model name|cpu part|model:)' \
  /proc/cpuinfo /proc/driver/nvidia/gpus/*/information 2>/dev/null)
SETTINGS := $(NVCC) $(NVCC_PREPEND_FLAGS) $(NVFLAGS) $(TARGET) $(NVCC_APPEND_FLAGS) \
  $(CXX) $(CXXFLAGS) $(SIMTFLAGS) $(LDFLAGS) $(LDLIBS) $(TOOLS) $(MACHINE)
$(B)/settings: always
	@$(if $(filter chapter% run,$(GOALS)),rm -f run)
	@mkdir -p $(@D)
	@echo '$(SETTINGS)' | cmp -s - $@ || echo '$(SETTINGS)' > $@

# nvcc names the toolkit's own headers too, hundreds of them, which change with
# $(B)/settings at most; every later make would read their names.
forget_toolkit = @sed -i -E '\:^ *(/|\.toolchain/):d' $(basename $@).d
define compile_cu
@echo "nvcc  $<"
@mkdir -p $(@D)
@$(NVCC) $(NVFLAGS) $(TARGET) -MMD -MP -c $< -o $@
$(forget_toolkit)
endef
quietly_compile_cpp = @$(CXX) $(CXXFLAGS) $(PRECOMPILED) -MMD -MP -c $< -o $@
define compile_cpp
@echo "g++   $<$(far)"
@mkdir -p $(@D)
$(quietly_compile_cpp)
endef
define link
@echo "link  $@"
@$(CXX) $(SANITIZED) $(LINKER) $(filter %.o %.a,$^) $(DEVICE_LINK) $(LDFLAGS) $(LDLIBS) -o $@
endef

$(B)/%.o: %.cu $(B)/settings
	$(compile_cu)
$(B)/%.o: %.cpp $(B)/settings
	$(compile_cpp)

# Of the harness, what is always linked together is compiled in one go: most of
# it is others' headers.
$(HARNESS)/checks/all.cpp: $(patsubst %,common/harness/%.cpp,main checks)
$(HARNESS)/show/all.cpp: $(patsubst %,common/harness/show_%.cpp,file rows table $(LAUNCHES))
$(HARNESS)/%/all.cpp:
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $^ > $@

# The executor. Its folders are small beside what they include, so each is
# compiled in one go; but for arithmetic, whose files give their instructions
# the same names. Others' headers are read once for all. What runs once a launch
# is compiled fast, what runs once an instruction runs fast.
ARITHMETIC := common/simt/isa/arithmetic
FOLDERS := $(filter-out $(ARITHMETIC),$(patsubst %/,%,$(wildcard common/simt/*/ common/simt/isa/*/)))
WHOLE := $(FOLDERS:%=$(B)/%/all.o)
SIMT := $(WHOLE) $(patsubst %.cpp,$(B)/%.o,$(wildcard $(ARITHMETIC)/*.cpp))
STAND_IN := $(patsubst %,$(B)/common/simt/%/all.o,library $(STAND_INS))
LIBRARY := $(filter-out $(STAND_IN),$(SIMT))
MISSING := $(filter-out $(wildcard $(LIBRARY)),$(LIBRARY))
BUILDING := $(filter chapter% profile% run program test test-all,$(GOALS))
ifneq ($(and $(filter cpu,$(BACKEND)),$(BUILDING)),)
ifeq ($(MAKE_RESTARTS)$(MAKELEVEL)$(wildcard $(B)/libsimt.a),0)
$(info The first build compiles the executor: that takes a minute or more.)
endif
endif
QUICK := $(foreach d,core decode runtime library nccl,$(B)/common/simt/$d/all.o)
FAST := $(filter-out $(QUICK),$(SIMT))
# It asks the ptxas beside nvcc how many registers a kernel has.
BESIDE_NVCC := $(shell dirname "$$(readlink -f "$$(command -v $(NVCC))")")
$(B)/common/simt/runtime/all.o: private CXXFLAGS += -DSIMT_PTXAS_PATH='"$(subst ','\'',$(BESIDE_NVCC))/ptxas"'
# What tells of the executor includes the same headers, and only prints.
ifeq ($(BACKEND),cpu)
QUICK += $(CHECKS) $(SHOW) $(patsubst %,$(HARNESS)/%.o,counters show_program unmeasured)
endif
# g++ 13 and newer precompile a header for one level of optimisation.
define with_standard
$1 $(B)/$2.h.gch: CXXFLAGS += $(SIMTFLAGS) $3
$1: private PRECOMPILED := -include $(B)/$2.h -Winvalid-pch
$1: $(B)/$2.h.gch
$(B)/$2.h.gch: common/simt/core/standard.h $(B)/settings
	@mkdir -p $$(@D)
	@cp $$< $$(@:.gch=)
	@$$(CXX) $$(CXXFLAGS) -x c++-header $$< -o $$@
endef
$(eval $(call with_standard,$(FAST),fast,-O3))
$(eval $(call with_standard,$(QUICK),quick,-Og))
$(WHOLE:.o=.cpp): $(B)/%/all.cpp: %
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(sort $(wildcard $</*.cpp)) > $@
$(WHOLE) $(CHECKS) $(SHOW): %.o: %.cpp $(B)/settings
	@echo "g++   $(<:$(B)/%/all.cpp=%)$(far)"
	$(quietly_compile_cpp)
# The first build says how far it is, too.
$(MISSING): far = $(eval BEGUN += x) ($(words $(BEGUN)) of $(words $(MISSING)))
# Others' headers are half of what a contract's checks are made of: read once for all. For
# the one suite that a chapter needs, that would take longer than it saves.
SUITES := $(foreach op,$(OPS),$(call suite,$(op)))
ifeq ($(filter chapter% run,$(GOALS)),)
$(SUITES): private PRECOMPILED := -include $(B)/suites.h -Winvalid-pch
$(SUITES): | $(B)/suites.h.gch
endif
$(B)/suites.h.gch: tests/contract.h $(B)/settings
	@mkdir -p $(@D)
	@grep '^#include <' $< > $(@:.gch=)
	@$(CXX) $(CXXFLAGS) -x c++-header $(@:.gch=) -o $@
# The host's part of a suite is long to compile and short to run. A sixth of that is <cmath>'s
# special functions, from beta to riemann_zeta, which C++17 has put there and nobody calls; of
# <algorithm>'s part, half is for ranges and for execution policies, which nobody uses either.
UNUSED := -D_GLIBCXX_BITS_SPECFUN_H -D_RANGES_ALGO_H -D_PSTL_GLUE_ALGORITHM_DEFS_H
$(B)/tests/%.o $(B)/build/%.o: NVFLAGS := $(subst $(HOST),-O0,$(NVFLAGS)) $(UNUSED)
# For the executor an engine's wrong kernels, and the many that its suite asks for, are optimised
# less where nvcc can be asked to: nothing of theirs is counted, and it takes half the time.
SOONER := $(if $(NVCC),$(if $(shell $(NVCC) --help | grep -e --Ofast-compile),-Ofc min))
ifeq ($(BACKEND),cpu)
$(B)/build/together/sooner/%.o: NVFLAGS += $(SOONER)
endif
# For tests/fuzz: the same program in other PTX, and its PTX word by word.
$(B)/build/fuzz/plain/%.o: NVFLAGS += -G
$(B)/build/fuzz/literal/%.o: NVFLAGS += -Xptxas -O0
# For tests/findings.py: as students debug. With -G nvcc leaves -lineinfo out, and warns of it.
$(foreach d,unoptimised linked/unoptimised hopper/unoptimised,$(B)/build/together/$d/%.o): NVFLAGS += -G -w
# A folder is newer than the library when a file was added or removed. What is to be ready
# before main is ready before a program's own objects, which may launch kernels.
REFUSALS := $(B)/common/simt/refusals
$(B)/libsimt.a: $(LIBRARY) $(REFUSALS).o
$(STAND_INS:%=$(B)/lib%.a): $(B)/lib%.a: $(B)/common/simt/%/all.o $(B)/common/simt/library/all.o
$(B)/lib%.a: $(sort $(dir $(SIMT:$(B)/%=%)))
	@rm -f $@
	@ar qcs $@ $(filter %.o,$^)
	@$(shell $(CXX) -print-prog-name=objcopy) --rename-section .init_array=.init_array.00101 $@

# What the toolkit's headers declare of the runtime and the driver, and none of these defines.
$(REFUSALS).cpp: common/simt/runtime/refusals.sh $(LIBRARY)
	@{ for streams in LEGACY PER_THREAD; do \
	  printf '#include <%s>\n' cuda.h cuda_runtime_api.h cuda_profiler_api.h | \
	  $(CXX) -E -x c++ -DCUDA_API_$${streams}_DEFAULT_STREAM -isystem $(CUDA)/include -; \
	done; } | $< $(LIBRARY) > $@
$(REFUSALS).o: $(REFUSALS).cpp
	@$(CXX) -c $< -o $@

# What tests/architectures.py has put together, compiled for every architecture that
# the toolkit knows: from the source for the oldest of each generation (7.5, 8.0, ...),
# whose PTX becomes machine code for all of it; or for the oldest of all, whose PTX becomes
# machine code for the oldest of each: what a generation lacks, none of its members has.
# Neither part of nvcc optimises, so that it is done soonest; nvcc 12 knows no word for that.
AS_WRITTEN = $(if $(SOONER),-Ofc max,-Xcicc -O1 -Xptxas -O0)
define GENERATIONS
int($$1 / 10) != major { printf "%s-gencode arch=compute_%s,code=[", end, $$1; major = int($$1 / 10); comma = "" }
{ printf "%ssm_%s", comma, $$1; comma = ","; end = "] " } END { print end }
endef
generations = $(shell $(NVCC) --list-gpu-code | sed -n 's/^sm_//p' | sort -n | awk '$(GENERATIONS)')
oldest = $(firstword $(shell $(NVCC) --list-gpu-arch))
space := $(subst ,, )
oldest_of_each = $(shell grep -o '\[sm_[0-9]*' <<< '$(generations)' | tr -d '[')
from_oldest = -gencode arch=$(oldest),code=[$(subst $(space),$(comma),$1)]
build/all/build/together/source.%: ARCHITECTURES = $(generations)
build/all/build/together/ptx.%: ARCHITECTURES = $(call from_oldest,$(oldest_of_each))
build/all/%.fatbin: %.cu $(B)/settings
	@mkdir -p $(@D)
	@$(NVCC) $(NVFLAGS) $(ARCHITECTURES) $(AS_WRITTEN) -MMD -MP -fatbin $< -o $@
	$(forget_toolkit)

-include $(shell find $(B) build/all -name '*.d' 2>/dev/null)

# From here on $$ in a rule's prerequisites is expanded once its target is
# known. There are three kinds of program:
.SECONDEXPANSION:
# - what fulfils a contract, with the contract's checks and benchmark
runtime = $(call wants,$1) $(RUNTIME)
$(B)/%.run: $(B)/%.o $$(call suite,$$(call op,$$*)) $(CHECKS) \
    $$(call measure,$$(call op,$$*)) $$(call runtime,$$*.cu)
	$(link)
# - what has its own main
$(B)/%.program: $(B)/%.o $$(call runtime,$$*.cu)
	$(link)
# - the same, of what only Hopper can do: wgmma
FOR_HOPPER := $(B)/tests/simt/hopper $(B)/build/together/hopper
$(FOR_HOPPER:%=%/%.o): TARGET := $(subst $(ARCHITECTURE),$(HOPPER),$(TARGET))
# - the same, of device code that is linked: with the files in a folder of its name
LINKED := tests/simt/linked
NEEDS_LINK := $(B)/$(LINKED) $(B)/build/together/linked
$(NEEDS_LINK:%=%/%.o): NVFLAGS += -rdc=true
$(NEEDS_LINK:%=%/%.program): DEVICE_LINK = $(shell common/setup/device_link.sh $(BACKEND) \
  $@.device.o $(filter %.o,$^) -- $(NVCC) $(NVFLAGS) $(TARGET) -rdc=true)
linked_parts = $(patsubst %.cu,$(B)/%.o,$(sort $(wildcard $(LINKED)/$1/*.cu)))
LINKED_SUITES := $(patsubst $(LINKED)/%.cu,%,$(wildcard $(LINKED)/*.cu))
$(LINKED_SUITES:%=$(B)/$(LINKED)/%.program): $(B)/$(LINKED)/%.program: $$(call linked_parts,$$*)
# - what fulfils a contract, with a program that times more of it: plots/<op>_steps.cu
$(B)/%.steps: $(B)/%.o $$(B)/plots/$$(call op,$$*)_steps.o
	$(link)
# - the same for the chapters that `make parity` counts
$(B)/%.counted: $(B)/%.o $$(call calls,$$(call op,$$*)) \
    $(B)/tests/parity/counted.o $$(call runtime,$$*.cu)
	$(link)
# - checks of something that is no contract
$(B)/%.checks: $(B)/%.o $(CHECKS) $(HARNESS)/unmeasured.o \
    $(SHOW) $(RUNTIME)
	$(link)
# - and of an engine, which is as many kernels as somebody asks of it: those of tests/any_<engine>
ENGINES := $(patsubst tests/any_%/,%,$(wildcard tests/any_*/))
parts = $(patsubst %.cu,$(B)/$2%.o,$(sort $(wildcard tests/any_$1/*.cu)))
$(ENGINES:%=$(B)/tests/%_test.checks): $(B)/tests/%_test.checks: $$(call parts,$$*,)
# What an unoptimised_*.cu of them adds are types and functions, to templates that the rest
# compiles nearly as a GPU gets them: for the executor it is left as it is written, which takes
# nvcc a quarter of the time.
ifeq ($(BACKEND),cpu)
AS_IT_IS := $(wildcard tests/any_*/unoptimised_*.cu)
$(AS_IT_IS:%.cu=$(B)/%.o): NVFLAGS += -Xcicc -O1
$(patsubst %.cu,$(B)/%.o,$(filter-out $(AS_IT_IS),$(wildcard tests/any_*/*.cu))): NVFLAGS += $(SOONER)
endif
# The grader calls compilers from folders of its own, with a PATH of its own.
found_at = $(abspath $(shell command -v $1))
COMPILE_HAND_IN = $(call found_at,$(NVCC)) -std=c++20 $(HOST) -ccbin $(call found_at,$(CXX)) $(TARGET)
ifeq ($(BACKEND),gpu)
# - what a hand-in that is timed is linked with, and the grader's tools for it, a line each
$(B)/grade/%.parts: $$(call suite,$$*) $(CHECKS) $$(call measure,$$*)
	@mkdir -p $(@D)
	@ld -r $^ -o $@
$(B)/grade/tools: $(B)/settings
	@mkdir -p $(@D)
	@printf '%s\n' '$(COMPILE_HAND_IN)' '$(call found_at,$(CXX))' '-lbenchmark $(CUDART)' '$(realpath $(CUDA))' > $@
else
# - what judges a hand-in, and what a hand-in is linked with: each other's far side
header = $(firstword $(wildcard common/$1.h $(TASKS)/$1/$1.h))
$(B)/grade/%.cpp: $$(call header,$$(basename $$*)) common/classroom/stubs.py
	@mkdir -p $(@D)
	@$(PYTHON) -m classroom.stubs $(subst .,,$(suffix $*)) $< > $@
$(B)/grade/%.o: $(B)/grade/%.cpp $(B)/settings
	$(quietly_compile_cpp)
JUDGE := $(addprefix $(B)/common/classroom/remote/,judge.o services.o)
$(B)/grade/%.judge: $(B)/grade/%.judge.o $$(call suite,$$*) $$(call calls,$$*) \
    $(JUDGE) $(SHOW) $(RUNTIME)
	$(link)
$(B)/grade/%.parts: $(B)/grade/%.hand_in.o $(B)/common/classroom/remote/hand_in.o
	@ld -r $^ -o $@
endif
# - what ncu watches, on a GPU
$(B)/%.profiled: $(B)/%.o $$(call calls,$$(call op,$$*)) \
    $(HARNESS)/profiled.o $(SHOW)
	$(link)

# - what PyTorch's process can load: a chapter's file alone
$(B)/%.so: %.cu $(B)/settings
	@echo "nvcc  $<, to be loaded"
	@mkdir -p $(@D)
	@$(NVCC) $(NVFLAGS) $(TARGET) -MMD -MP -shared -Xcompiler -fPIC $< -o $@
	$(forget_toolkit)

# What ./run counts without a GPU, for the next chapter's table and the pages.
# Empty when the checks fail: then there is nothing to compare with.
$(B)/%.counts: $(B)/%.run
	@echo "count $<"
	@./$< --record=$@.new > $@.log 2>&1 || : > $@.new
	@mv $@.new $@

# point_run_at <program>
point_run_at = @ln -sfn $1 run && echo "./run is $1"

# - and an engine, of which each part is compiled by itself
$(foreach e,$(ENGINES),$(call parts,$e,shared/)): $(B)/shared/%.o: %.cu $(B)/settings
	@echo "nvcc  $<, to be loaded"
	@mkdir -p $(@D)
	@$(NVCC) $(NVFLAGS) $(TARGET) -MMD -MP -Xcompiler -fPIC -c $< -o $@
	$(forget_toolkit)
$(ENGINES:%=$(B)/any_%.so): $(B)/any_%.so: $$(call parts,$$*,shared/)
	@echo "link  $@"
	@$(NVCC) -ccbin $(CXX) $(TARGET) -shared $^ -o $@

# ---- Targets ----------------------------------------------------------------

.PHONY: always help run program profile test $(NUMBERS:%=test%) bench peers $(TIMED) sweep parity speed compare plots weave doctor clean grade regrade watch progress handout formats leaderboard gradescope test-all test-classroom
always:
.DEFAULT:
	@echo "There is no $@. Called without a goal, make lists what there is." >&2; exit 1

define HELP
make chapter03       build chapter 03 and point ./run at it; then ./run
make chapter03.four  the same for its variant, <op>.four.cu
make run SRC=a/OP.mine.cu     the same for any file that fulfils a contract
make program SRC=a/b.cu       the same for a program with a main of its own;
                     SRC="b.cu c.cpp": of several files. STD=20: in C++20, not
                     17; FLAGS="-DN=3 -Ia": for nvcc; ARGS="64 x": what the
                     program gets if you call ./run without arguments

make diff03          what chapter 03 changed
make ptx03           what the compiler made of it
make profile03       what each of its lines costs; PTX=1: each instruction, too
make profile SRC=a/b.cu       the same for any file, with or without a main

make start07         put the exercise of chapter 07 into mine/chapter07
make exercise07      build what you made of it, point ./run at it; then ./run
make hint07          a hint; each call gives one more
make predict07       questions to answer before you run it; called again, it
                     checks your answers
make bugs07          two wrong kernels; find their bugs
make watch NN=07     build and run your file whenever you save it
make progress        which exercises pass
                     MINE=folder: not in mine/; NAME="Ada": whose predictions;
                     make start TASK=name and so on: a task without a chapter

make test            run the checks of chapters, pages and the executor
make test-classroom  grade every sample hand-in: right, slow, wrong, hostile
make test-all        run every check: six times as long; TURN=n: make test and
                     a part of the rest, as .ci/run does; n even: the classroom
make test03          run the checks that concern chapter 03
make bench           measure every chapter, variant and peer; record the results
make bench03         the same for chapter 03
make compare         your GPU's results beside those recorded; N=2^26: one size
make peers           time them beside CUB, PyTorch and Triton, in one process
make sweep           try other constants in a chapter: timed, or counted$(LISTED)
make parity          compare the executor's counters with Nsight Compute's
make speed           time the executor itself, beside numba's CUDA simulator
make plots           draw the figures from what is recorded
make figures         the same, after tracing and counting the kernels anew
make weave           bring code, tables and figures in the pages up to date

make grade           grade your exercises, as a teacher would
make grade DIR=hand-ins       all of a class; CHAPTER=07: only that one; ROSTER=
                     a CSV file of names and ids; SEED=n; LIMIT=seconds
                     TIMES=yes: time them on a GPU, too, which gives no points
make regrade         grade once more, with the same seeds: what differs?
                     STUDENT=ada CHAPTER=07: only that one, shown in full
make handout DIR=../course    a repository of exercises for students;
                     CHAPTERS="03 07": only those; HINTS=no: without hints;
                     BUGS=yes: with wrong kernels, once the exercises are in
make formats         write the grades in results/ anew in every format
make leaderboard NN=07 BY="load requests"    rank those hand-ins by a counter
make gradescope NN=07         the archive of a Gradescope autograder
                     docs/teaching.md says how a course uses these

make doctor          what is installed, what is missing, and how to mend it
make clean           remove what was built (what was installed stays)

BACKEND=gpu|cpu chooses; unset, it is the GPU where there is one.
Here: $(BACKEND), because $(WHY).

The chapters:$(LISTING)
endef
help:
	$(info $(HELP))
	@:

ifeq ($(BACKEND),gpu)
# ncu counts whole launches: the table that ./run prints without a GPU.
profiled = $(foreach s,$1,$(B)/$(basename $s).profiled)
define profile_rule
profile$(call name,$1): $(call profiled,$1 $2)
	@$(PYTHON) -m ladder.profile $$^
endef
else
# compared <source>: beside its program, the counts of what it is compared with
compared = $(if $(call before,$1),$(B)/$(basename $1).before)
define profile_rule
profile$(call name,$1): $(B)/$(basename $1).run
	@./$$< $(if $(PTX),--ptx,--profile)
$(if $2,$(call compared,$1): $(B)/$(basename $2).counts
	@cp $$< $$@)
endef
endif

define chapter_rules
.PHONY: chapter$(call name,$1) ptx$(call name,$1) profile$(call name,$1)
chapter$(call name,$1): $(B)/$(basename $1).run $(call compared,$1)
	$$(call point_run_at,$$<)
$(call profile_rule,$1,$(call before,$1))
ptx$(call name,$1):
	@set -o pipefail; $$(NVCC) $$(NVFLAGS) -arch=compute_90 -ptx $1 -o - | c++filt
endef
$(foreach s,$(SOURCES),$(eval $(call chapter_rules,$s)))

# What a chapter changed: against the chapter before that has the same file.
.PHONY: $(NUMBERS:%=diff%)
$(NUMBERS:%=diff%): diff%:
	@for new in $(call plain,$*); do \
	  old=$$(ls chapters/*/$${new##*/} | grep -x -B 1 $$new | head -n 1); \
	  if [[ $$old == $$new ]]; then \
	    echo "$$new is the first $${new##*/}: there is none to compare it with."; \
	  else git --no-pager diff --no-index $$old $$new; (($$? < 2)); fi \
	done

# The exercises. NAME counts where make is told it: WSL, for one, calls the machine so.
export MINE
export WHO := $(if $(filter environment%,$(origin NAME)),,$(NAME))
student = @BACKEND=$(BACKEND) PYTHONDONTWRITEBYTECODE=1 $(if $(READS_TOML),$(PYTHON),$(CHECK_PYTHON)) -m classroom.student
define step_rules
.PHONY: $1 $(TURNS:%=$1%)
$(TURNS:%=$1%): $1%:
	$$(student) $1 $$*
$1:
	$$(student) $1 $$(TASK)
endef
$(foreach s,$(STEPS),$(eval $(call step_rules,$s)))
watch:
	$(student) watch $(or $(NN),$(TASK))
progress:
	$(student) progress

# Any other files, whatever they are called: common/setup/program.sh finds out what has
# changed. Their flags rebuild nothing else. nvcc's own default is C++17.
export SRC FLAGS ARGS
build_program = @BUILD='$(B)' NVCC='$(NVCC)' CUDA='$(CUDA)' CXX='$(CXX)' STD='$(or $(STD),$1)' \
  GOAL='$(or $(filter profile,$(GOALS)),program)' COMPILE='$(NVBASE) $(TARGET)' \
  ARCHITECTURE='$(ARCHITECTURE)' HOPPER='$(HOPPER)' LINK='$(SANITIZED) $(LDFLAGS) $(LDLIBS)' STAND_INS='$(if $(RUNTIME),$(STAND_INS))' MAKE='$(MAKE)' common/setup/program.sh $2
WANTED := $(if $(filter run,$(GOALS)),$(call op,$(SRC)))
run: LDLIBS := $(if $(filter gpu,$(BACKEND)),-lbenchmark) $(LDLIBS)
run: $(foreach op,$(WANTED),$(call suite,$(op))) $(CHECKS) \
    $(foreach op,$(WANTED),$(call measure,$(op))) $(RUNTIME) | $(B)/settings
	$(call build_program,20,.run $^)
program: $(if $(LAUNCHES),$(HARNESS)/show_program.o $(SHOW)) $(RUNTIME) | $(B)/settings
	$(call build_program,17,.program $^)
profile: $(PROFILED)
	@$(if $(filter run,$(PROFILED)),./run $(if $(PTX),--ptx,--profile),PROFILE=1 ./run)
# Before the library is built, which takes a minute.
.PHONY: request
request:
	$(call build_program,17,check)
ifneq ($(filter program,$(GOALS)),)
$(SIMT): | request
program: | request
endif

# Several goals are reached one by one, as they were asked for: what is drawn has
# been measured, and nothing disturbs what is being timed.
last :=
$(foreach g,$(filter-out build/%,$(GOALS)),$(if $(last),$(eval $g: | $(last)))$(eval last := $g))

# One more than there are cores: what is graded or hangs waits for its limit of time.
export PYTEST_XDIST_AUTO_NUM_WORKERS := $(shell expr $$(nproc) + 1)

# All that concerns one chapter: its files, its page, and the kernels wrong in its way.
CONCERNED = $(dir $(call sources,$1)) $(addprefix tests/,layout.py claims.py breaks.py wrong.py) docs/ladder/weave.py docs/ladder/figures/plot.py
# What takes long and few changes concern is left to test-all: tests/conftest.py says what.
test: export SHORT := yes
$(NUMBERS:%=test%): CHAPTER = $(@:test%=%)
ifeq ($(wildcard tests/conftest.py),)  # A handout: what there is to check is the student's.
test: progress
$(TURNS:%=test%): test%: exercise%
	@./run
else
test test-all $(NUMBERS:%=test%):
	@echo "Building for the $(BACKEND) backend ..."
	@BACKEND=$(BACKEND) RELEASE=$(RELEASE) CHAPTER=$(CHAPTER) PYTHONDONTWRITEBYTECODE=1 \
	  $(CHECK_PYTHON) -m pytest $(if $(CHAPTER),$(sort $(call CONCERNED,$(CHAPTER))))
endif

# All sample hand-ins and all of tests/wrong through the grader, exercises, tasks and handouts.
test-classroom:
	@BACKEND=$(BACKEND) PYTHONDONTWRITEBYTECODE=1 $(CHECK_PYTHON) -m pytest tests/classroom

ifeq ($(BACKEND),gpu)
$(if $(LEFT_OUT),$(info Left out, because $(NOT_HERE) is not here: $(LEFT_OUT)))
SOURCES := $(filter-out $(LEFT_OUT),$(SOURCES))
# What is built of sources for a script, and source=built, as it is told.
built = $(patsubst %.cu,$(B)/%$1,$2)
pairs = $(join $(addsuffix =,$2),$(call built,$1,$2))

.PHONY: $(NUMBERS:%=bench%)
$(NUMBERS:%=bench%): bench%: $$(call built,.run,$$(call sources,$$*))
	@$(PYTHON) -m ladder.measured.bench $(call pairs,.run,$(call sources,$*))

# The whole ladder is measured beside what people would use instead.
MEASURED := $(SOURCES) $(wildcard plots/peers/*.cu)
LOADED   := $(MEASURED) common/harness/read_kernel.cu
time_peers = @$(PYTHON) -m ladder.measured.peers $(call pairs,.so,$(LOADED))
time_one = @$(PYTHON) -m ladder.measured.latency ./$(B)/plots/latency.program
bench: $(call built,.run,$(MEASURED)) $(call built,.so,$(LOADED)) \
    $(B)/plots/latency.program
	@$(PYTHON) -m ladder.measured.bench $(call pairs,.run,$(MEASURED))
	$(time_one)
	$(time_peers)
peers: $(call built,.so,$(LOADED))
	$(time_peers)
define timing_rule
$(call stem,$1): $$$$(call needs,$1)
	@$$(PYTHON) -m $(if $(filter %.py,$1),plots,ladder.measured).$$@ $$^
endef
$(foreach f,$(TIMED_BY),$(eval $(call timing_rule,$f)))
else
.PHONY: $(NUMBERS:%=bench%)
bench peers $(TIMED) $(NUMBERS:%=bench%):
	@echo "Nothing is measured here: there is no time without a GPU, and the"
	@echo "CPU would time itself. What it can say of a kernel, ./run prints."
	@echo "'make plots' redraws the results that are recorded in plots/data."
endif

sweep:
	@$(PYTHON) -m ladder.measured.sweep $(BACKEND)
parity:
	@$(PYTHON) -m ladder.measured.parity
speed:
	@$(PYTHON) -m ladder.measured.speed
compare:
	@$(PYTHON) -m ladder.measured.compare $(N)
plots:
	@$(CHECK_PYTHON) -m ladder.figures.plot
figures:
	@$(CHECK_PYTHON) -m ladder.figures.traces
	@$(CHECK_PYTHON) -m ladder.figures.counters_figure
	@$(CHECK_PYTHON) -m ladder.figures.plot
weave:
	@$(CHECK_PYTHON) -m ladder.weave

# Hand-ins are compiled where nothing but /usr, CUDA and the compiler can be seen. Their grades go to results/.
classroom = @PYTHONDONTWRITEBYTECODE=1 $(CHECK_PYTHON) -m classroom.$1
grade regrade: export COMPILE = $(COMPILE_HAND_IN)
grade regrade: export UNUSED := $(UNUSED)
grade regrade: export LINK = $(call found_at,$(CXX))
grade regrade: export JUDGES := $(B)/grade
grade: export TIMERS := $(B:build/cpu%=build/gpu%)/grade
grade regrade: export TOOLS := $(realpath $(CUDA))
# Names of folders and files may hold anything: make exports what it is told, and the shell reads that.
grade:
	$(if $(CHAPTERS)$(NN),$(error Grading takes all chapters, or one: CHAPTER=07))
	$(call classroom,$@) "$${DIR:-$${MINE:-mine}}"
regrade:
	$(if $(CHAPTERS)$(NN),$(error Grading takes all chapters, or one: CHAPTER=07))
	$(call classroom,$@) "$$DIR"
handout:
	$(if $(CHAPTER),$(error Say which chapters in one word: CHAPTERS="$(CHAPTER)"))
	$(if $(DIR),,$(error Say where to: make handout DIR=folder CHAPTERS="03 07"))
	$(call classroom,$@) "$$DIR" '$(CHAPTERS)'
formats:
	$(call classroom,formats) "$${RESULTS:-results}" $${ROSTER:+"$$ROSTER"}
leaderboard:
	$(call classroom,leaderboard) "$${RESULTS:-results}" '$(or $(NN),$(error $(LEADERBOARD)))' '$(or $(BY),$(error $(LEADERBOARD)))'
gradescope:
	$(call classroom,bundle) '$(or $(NN),$(error Say of which chapter: make gradescope NN=07))' build/gradescope-$(NN).zip
LEADERBOARD := Say of which chapter, and by what counter: make leaderboard NN=07 BY="load requests"

doctor:
	@type -P $(PYTHON) >/dev/null || { echo "The doctor needs Python 3:" \
	  "sudo apt-get install -y python3"; exit 1; }
	@$(PYTHON) common/setup/doctor.py

clean:
	@rm -rf build run
