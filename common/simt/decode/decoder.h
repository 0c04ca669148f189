// Turns the statements of one kernel, and of the functions it calls, into
// instructions.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/simt/core/program.h"
#include "common/simt/decode/fixed_values.h"
#include "common/simt/decode/forms.h"
#include "common/simt/decode/scopes.h"
#include "common/simt/decode/special.h"
#include "common/simt/decode/user_lines.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

class Decoder : public OperandReader {
 public:
  Decoder(Module& module, Program& program)
      : module_(module),
        program_(program),
        fixed_(program),
        user_lines_(module.text) {}

  const Function* decode_entry(const FunctionText& text);
  // Any of a module's functions may be the target of an indirect call.
  void decode_addressable();

  // decoder_operands.cpp
  Place source(const Operand& o, int bytes) override;
  Place destination(const Operand& o) override;
  Place predicate(const std::string& name) override;
  int width(const Operand& operand) override;
  bool is_predicate(const std::string& name) override;
  bool is_register(const std::string& name) override;

 private:
  // A branch whose labels may still follow.
  struct Jump {
    uint32_t pc;
    int scope;
    std::string label;
  };
  // What is being decoded; calls to new functions nest.
  struct Context {
    Function* function = nullptr;
    const FunctionText* text = nullptr;
    Scopes scopes;
    std::vector<Jump> jumps;
    SourceLine where;
    const Statement* statement = nullptr;
    SourceLine called_at;  // by whom it is told where the toolkit's code is
    // What is written out here instead of being called, from the outside in;
    // and what is passed there, see pass_in_registers.
    std::vector<const FunctionText*> written_out;
    std::map<uint32_t, uint32_t> passed;
  };
  struct Parameter {
    uint32_t offset, bytes;
  };

  // decoder.cpp: functions and statements
  const Function* decode_function(const FunctionText& written,
                                  SourceLine called_at = {});
  void decode_text(const FunctionText& text);
  void analyse(int level);
  void body(const FunctionText& text);
  void statement(const Statement& s);
  void label(const Statement& s);
  void instruction(const Statement& s);
  void require_target(const Statement& s) const;
  void guard(const Statement& s, Draft& ins);
  void decode_checked(const Statement& s);
  bool control_flow(const Statement& s, Draft& ins);
  bool memory(const Statement& s, Draft& ins);
  bool stack(const Statement& s, Draft& ins);
  void meet_warpgroup(const Draft& product);
  void emit(const Draft& draft);
  SourceLine told_at(SourceLine where);
  [[noreturn]] void refuse(const std::string& what, const std::string& why);

  // decoder_branches.cpp
  void jump(const Draft& ins, const std::string& label);
  uint32_t target(const std::string& label, int from);
  void resolve(const Jump& jump, Instruction& ins);
  void resolve_jumps();
  void go_on();

  // decoder_operands.cpp
  Place without_value(uint64_t bits, int bytes);
  Place special(const std::string& name);
  Place clock_register(Clock clock);
  int array_of(const std::string& name) const;
  Place address_of(const std::string& name, int64_t offset, int bytes);
  Place address_of(const Variable& v, const std::string& name, int64_t offset,
                   int bytes);
  Place local_address_of(const Variable& v, int64_t offset, int bytes);
  Address address(const Statement& s, const Operand& o);
  bool parameter_load(const Statement& s, const Draft& guard);

  // decoder_variables.cpp
  void kernel_parameters(const FunctionText& text);
  void declare(const Declaration& d);
  void declare_in_scope(const Declaration& d);
  Register new_register(Type type);
  void may_be_meant(const Variable& v);
  Function::Slot stack_variable(const Declaration& d);
  void require_room(uint64_t used, const Declaration& d, uint64_t most,
                    const char* what, const char* owner) const;
  Variable shared_variable(const Declaration& d);
  const Register* find_register(const std::string& name) const;
  const Variable* find_variable(const std::string& name);
  void place_shared_of_file();

  // decoder_calls.cpp
  const Function* decode_called(FunctionText& text);
  void call(const Statement& s, Draft ins);
  void call_named(const std::string& name, Draft& ins, Call& call);
  void call_defined(FunctionText& callee, Draft& ins, Call& call);
  void emit_call(Draft& ins, const Call& call);
  uint32_t stack_offset(const std::string& name);
  bool is_written_out(FunctionText& callee);
  int written_size(FunctionText& f);
  void write_out(const FunctionText& callee, const Call& call);
  void pass(const std::vector<Declaration>& theirs,
            const std::vector<uint32_t>& offsets);

  Module& module_;
  Program& program_;
  FixedValues fixed_;
  UserLines user_lines_;
  Context context_;
  Forms forms_;
  int nested_ = 0;
  std::map<const FunctionText*, int> written_sizes_;
  std::map<std::string, Parameter> kernel_params_;
  std::map<std::string, Variable> shared_;  // of whole files
  bool indirect_calls_ = false;
};

// A label that no function has: behind what is written out.
constexpr char kEndOfCall[] = "(the end of a call)";

constexpr uint32_t align_up(uint32_t n, uint32_t to) {
  return (n + to - 1) / to * to;
}

// How far ptxas goes by its -O, if it is to be predicted.
int ptxas_level(const Unit& unit);

}  // namespace simt
