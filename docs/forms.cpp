// Prints the PTX that the executor accepts, as its decoder's list has it, a
// line each, the kind first: for docs/ladder/forms.py.
//
//   forms         group, line (as it is written in the list), word (what stands
//                 for several modifiers), special (registers), directive
//   forms --all   after each line, every form that it stands for
#include "common/simt/decode/forms.h"

#include <iostream>
#include <string>

using namespace simt;

int main(int argc, char** argv) {
  const bool all = argc > 1 && std::string(argv[1]) == "--all";
  for (const FormGroup& group : form_groups()) {
    std::cout << "group " << group.title << '\n';
    for (std::string_view line : group.lines) {
      std::cout << "line " << line << '\n';
      if (all)
        expand_form(line, [](const std::string& form) {
          std::cout << "form " << form << '\n';
        });
    }
  }
  for (const auto& [word, meaning] : form_words())
    std::cout << "word " << word << ' ' << meaning << '\n';
  for (const std::string& name : special_registers())
    std::cout << "special " << name << '\n';
  for (const std::string& name : accepted_directives())
    std::cout << "directive " << name << '\n';
}
