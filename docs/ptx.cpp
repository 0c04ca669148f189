// Prints as JSON what the executor's parser reads of a file of PTX, for
// docs/ladder/ptx.py: of each function its instructions, each with the lines
// that it stems from, and its loops, as numbers of instructions.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/simt/core/error.h"
#include "common/simt/core/names.h"
#include "common/simt/decode/parse.h"

using namespace simt;

namespace {

using Numbers = std::set<size_t>;

class Flow {
 public:
  explicit Flow(const FunctionText& function) {
    std::map<std::string, size_t> labels;
    std::map<std::string, const Statement*> tables;
    for (const Statement& s : function.body)
      if (!s.label.empty() && !s.op.empty())
        tables[s.label] = &s;
      else if (!s.label.empty())
        labels[s.label] = instructions.size();
      else if (!s.op.empty())
        instructions.push_back(&s);
    next_.resize(instructions.size());
    before_.resize(instructions.size());
    const auto lead = [&](size_t from, size_t to) {
      if (to == instructions.size()) return;
      next_[from].insert(to);
      before_[to].insert(from);
    };
    for (size_t i = 0; i < instructions.size(); ++i) {
      const Statement& s = *instructions[i];
      const bool branches = s.name() == "bra" || s.name() == "brx";
      if (s.name() == "bra") lead(i, labels.at(s.operands.at(0).text));
      if (s.name() == "brx")
        for (const Operand& to : tables.at(s.operands.at(1).text)->operands)
          lead(i, labels.at(to.text));
      const bool ends =
          s.name() == "ret" || s.name() == "exit" || s.name() == "trap";
      if (!s.guard.empty() || !(branches || ends)) lead(i, i + 1);
    }
  }

  // What can run again after it ran.
  Numbers repeated() const {
    Numbers found;
    for (size_t i = 0; i < instructions.size(); ++i)
      if (reachable(next_[i])[i]) found.insert(i);
    return found;
  }

  // By their heads: what lies between one and a branch back to it that it
  // dominates.
  std::map<size_t, Numbers> loops() const {
    std::map<size_t, Numbers> found;
    for (size_t latch = 0; latch < instructions.size(); ++latch)
      for (const size_t head : next_[latch])
        if (before_[head].size() > 1 &&
            (head == latch || !reachable({0}, head)[latch])) {
          found[head].insert(head);
          close(found[head], latch);
        }
    return found;
  }

  // Of a loop, those from which a way leads out.
  Numbers exits(const Numbers& loop) const {
    Numbers found;
    for (const size_t i : loop)
      if (!std::ranges::includes(loop, next_[i])) found.insert(i);
    return found;
  }

  std::vector<const Statement*> instructions;

 private:
  // Of each instruction, whether a way leads there from one of `starts`.
  std::vector<bool> reachable(const Numbers& starts,
                              size_t without = -1) const {
    std::vector<bool> reached(instructions.size());
    std::vector<size_t> todo(starts.begin(), starts.end());
    while (!todo.empty()) {
      const size_t i = todo.back();
      todo.pop_back();
      if (i == without || reached[i]) continue;
      reached[i] = true;
      todo.insert(todo.end(), next_[i].begin(), next_[i].end());
    }
    return reached;
  }

  void close(Numbers& loop, size_t i) const {
    if (!loop.insert(i).second) return;
    for (const size_t before : before_[i]) close(loop, before);
  }

  std::vector<Numbers> next_, before_;
};

template <class List, class Print>
void print(const char* brackets, const List& list, Print print_one) {
  std::cout << brackets[0];
  const char* comma = "";
  for (const auto& one : list) {
    std::cout << comma;
    print_one(one);
    comma = ",\n";
  }
  std::cout << brackets[1];
}

void print(const Numbers& numbers) {
  print("[]", numbers, [](size_t i) { std::cout << i; });
}

void print(const FunctionText& function, const ModuleText& module) {
  const Flow flow(function);
  std::cout << '"' << function_name(function.name) << "\": {\"code\": ";
  print("[]", flow.instructions, [&](const Statement* s) {
    std::cout << "[\"" << s->name();
    for (size_t k = 1; k < s->op.size(); ++k) std::cout << '.' << s->op[k];
    std::cout << '"';
    for (const SourceLine& line : module.origins[s->origin])
      std::cout << ", [" << line.file << ", " << line.line << ']';
    std::cout << ']';
  });
  std::cout << ", \"repeated\": ";
  print(flow.repeated());
  std::cout << ", \"loops\": ";
  print("[]", flow.loops(), [&](const auto& loop) {
    std::cout << "{\"inside\": ";
    print(loop.second);
    std::cout << ", \"exits\": ";
    print(flow.exits(loop.second));
    std::cout << '}';
  });
  std::cout << '}';
}

}  // namespace

int main(int, char** argv) try {
  std::ifstream file(argv[1]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const ModuleText module = parse_ptx(text);
  std::vector<const FunctionText*> defined;
  for (const auto& [name, function] : module.functions)
    if (function.defined) defined.push_back(&function);
  std::cout << "{\"files\": ";
  print("[]", module.files,
        [](const std::string& name) { std::cout << '"' << name << '"'; });
  std::cout << ", \"functions\": ";
  print("{}", defined, [&](const FunctionText* f) { print(*f, module); });
  std::cout << "}\n";
} catch (const Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
