// Splits PTX text into tokens.
#include "common/simt/decode/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "common/simt/core/error.h"
#include "common/simt/core/literals.h"
#include "common/simt/core/names.h"
#include "common/simt/decode/debug_info.h"

namespace simt {
namespace {

constexpr uint64_t kMostFiles = 1 << 16;

bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Asked of every character of megabytes.
const std::array<bool, 256> kNameChars = [] {
  std::array<bool, 256> all = {};
  for (int c = 0; c < 256; ++c)
    all[c] = std::isalnum(c) || (c && std::strchr("_.$%", c));
  return all;
}();
bool is_name_char(char c) { return kNameChars[static_cast<unsigned char>(c)]; }

class Lexer {
 public:
  Lexer(std::string_view text, const Unit& unit, ModuleText& module)
      : text_(text),
        first_file_(unit.first_file),
        inlined_(unit.inlined),
        files_(module.files),
        origins_(module.origins) {}

  std::vector<Token> outline() {
    if (origins_.empty()) origins_ = {{}};
    scan_files();
    while (at_ < text_.size())
      if (at_body())
        emit(end_of_body());
      else
        step();
    return std::move(tokens_);
  }
  // What the outline has found on its way.
  InlinedCalls inlined() const {
    return inlined_calls(debug_abbrev_, debug_info_);
  }

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  using Position = std::tuple<uint32_t, uint32_t, uint32_t>;

  // .file directives come last; the lines that refer to them come first.
  void scan_files() {
    for (size_t at = text_.find(".file"); at != text_.npos;
         at = text_.find(".file", at + 1)) {
      const size_t line = text_.rfind('\n', at) + 1;
      if (text_.find_first_not_of(" \t", line) != at) continue;
      const size_t end = std::min(text_.find('\n', at), text_.size());
      scan_file(std::string(text_.substr(at, end - at)));
    }
  }
  // .file 1 "path"[, time, size]
  void scan_file(const std::string& line) {
    const size_t digits = line.find_first_of("0123456789");
    const size_t open = line.find('"'), close = line.find('"', open + 1);
    if (close == line.npos || digits > open)
      throw Error("PTX: '" + line + "' names no file");
    const size_t end = line.find_first_not_of("0123456789", digits);
    const size_t number =
        first_file_ +
        parse_count(line.substr(digits, end - digits), kMostFiles);
    if (files_.size() <= number) files_.resize(number + 1);
    files_[number] = line.substr(open + 1, close - open - 1);
  }

  // What a variable begins with stands between braces, too.
  bool at_body() const {
    return text_[at_] == '{' && !tokens_.empty() && tokens_.back().text != "=";
  }
  size_t end_of_body() {
    const size_t begin = at_;
    int depth = 0;
    do {
      if (at_ >= text_.size())
        throw Error("PTX: the text ends in mid-sentence");
      const char c = text_[at_];
      if (c == '"')
        at_ = behind("\"", at_ + 1, "this string");
      else if (c == '/' && starts("//"))
        rest_of_line();
      else if (c == '/' && starts("/*"))
        at_ = behind("*/", at_ + 2, "this comment");
      else
        depth += (c == '{') - (c == '}'), ++at_;
    } while (depth > 0);
    return std::exchange(at_, begin);
  }

  void step() {
    const char c = text_[at_];
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (is_name_char(c) && c != '.' && !is_digit(c)) {
      emit(end_of_name());  // Most are: nothing longer has to be compared.
      if (c == '$' && at_ < text_.size() && text_[at_] == ':')
        pass(tokens_.back().text);
    } else if (is_digit(c)) {
      emit(end_of_number());
    } else if (starts("//")) {
      rest_of_line();
    } else if (starts("/*")) {
      at_ = behind("*/", at_ + 2, "this comment");
    } else if (starts(".loc\t") || starts(".loc ")) {
      location(rest_of_line());
    } else if (starts(".file\t") || starts(".file ")) {
      rest_of_line();
    } else if (starts(".section\t") || starts(".section ")) {
      section();
    } else if (c == '"') {
      emit(behind("\"", at_ + 1, "this string"));
    } else if (c == '.') {
      emit(end_of_name());
    } else if (std::isprint(static_cast<unsigned char>(c))) {
      emit(at_ + 1);
    } else {
      throw Error("PTX: a byte of " +
                  std::to_string(static_cast<unsigned char>(c)) +
                  " is no text" + near());
    }
  }

  size_t end_of_name() const {
    // Directives may touch: ".reg.b32 f" in the half headers' assembly.
    const bool directive = text_[at_] == '.';
    size_t end = at_ + 1;
    while (end < text_.size() && !(directive && text_[end] == '.') &&
           (is_name_char(text_[end]) || colons(end) || colons(end - 1)))
      ++end;
    return end;
  }
  // Of 1.5e-3, too, all belongs together.
  size_t end_of_number() const {
    size_t end = at_ + 1;
    bool point = false;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      const bool exponent = point && (text_[end - 1] | 0x20) == 'e';
      point |= c == '.';
      if (!is_name_char(c) && !(exponent && (c == '+' || c == '-'))) break;
    }
    return end;
  }

  bool starts(std::string_view word) const {
    return text_.substr(at_).starts_with(word);
  }
  bool colons(size_t at) const { return text_.substr(at).starts_with("::"); }

  size_t behind(const char* end, size_t from, const char* what) const {
    const size_t found = text_.find(end, from);
    if (found == text_.npos)
      throw Error(std::string("PTX: ") + what + " has no end" + near());
    return found + std::strlen(end);
  }
  std::string near() const {
    const size_t end = std::min(text_.find('\n', at_), at_ + 40);
    return ": " + std::string(text_.substr(at_, end - at_));
  }

  void emit(size_t end) {
    tokens_.push_back({text_.substr(at_, end - at_), where_, origin_});
    at_ = end;
  }

  std::string_view rest_of_line() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end;
    return line;
  }

  // .section .debug_str { ... }, which is for debuggers.
  void section() {
    const size_t open = text_.find('{', at_);
    const size_t end = behind("}", at_, "this .section");
    if (open > end || text_.find('{', open + 1) < end)
      throw Error("PTX: this .section has no end" + near());
    const std::string_view content = text_.substr(open + 1, end - open - 2);
    if (starts(".section\t.debug_abbrev")) debug_abbrev_ = content;
    if (starts(".section\t.debug_info")) debug_info_ = content;
    at_ = end;
  }

  // Where inlined code begins or ends.
  void pass(std::string_view label) {
    std::erase_if(inside_, [&](const auto* one) { return one->end == label; });
    const auto [first, last] = inlined_.equal_range(label);
    for (auto one = first; one != last; ++one) inside_.push_back(&one->second);
  }
  // Where the user's code called what the toolkit's is inlined in.
  const InlinedCall* user_call() const {
    for (auto one = inside_.rbegin(); one != inside_.rend(); ++one)
      if (!is_toolkit_file(files_.at(first_file_ + (*one)->file))) return *one;
    return nullptr;
  }

  // .loc file line column[, function_name label, inlined_at file line column]
  void location(std::string_view line) {
    Position here = {}, outer = {};
    const size_t inlined = line.find("inlined_at");
    bool good = read(line.substr(4), here) && is_file(std::get<0>(here));
    if (inlined != line.npos)
      good &=
          read(line.substr(inlined + 10), outer) && is_file(std::get<0>(outer));
    if (!good)
      throw Error("PTX: '" + std::string(line) + "' names no line of a file");
    trace(here, inlined == line.npos ? nullptr : &outer);
    const auto [f, l, c] = here;
    if (l == 0) return;  // The compiler does not say: still the line before.
    if (is_toolkit_file(files_[f]) && inlined != line.npos) {
      const auto known = resolved_.find(outer);
      where_ = known != resolved_.end()
                   ? known->second
                   : SourceLine{std::get<0>(outer), std::get<1>(outer)};
    } else if (const InlinedCall* call =
                   is_toolkit_file(files_[f]) ? user_call() : nullptr) {
      where_ = {first_file_ + call->file, call->line};
    } else {
      where_ = {f, l};
    }
    where_.of_groups |=
        files_[f].find("/cooperative_groups") != std::string::npos ||
        files_[f].ends_with("/cuda/pipeline");
    for (const char* folder : {"/cccl/", "/cub/", "/thrust/", "/cuda/std/"})
      where_.of_library |= files_[f].find(folder) != std::string::npos;
    resolved_[here] = where_;
  }
  // " 1 23 7": a file, a line, a column.
  bool read(std::string_view text, Position& place) const {
    const char* at = text.data();
    const auto number = [&](uint32_t& value) {
      while (at != text.end() && (*at == ' ' || *at == '\t')) ++at;
      const auto [behind, error] = std::from_chars(at, text.end(), value);
      at = behind;
      return error == std::errc();
    };
    auto& [file, line, column] = place;
    if (!number(file) || !number(line) || !number(column)) return false;
    file += first_file_;
    return true;
  }
  void trace(const Position& here, const Position* outer) {
    const auto place = [](const Position& p) {
      return SourceLine{std::get<0>(p), std::get<1>(p)};
    };
    std::vector<SourceLine> lines;
    if (outer && traced_.contains(*outer))
      lines = origins_[traced_[*outer]];
    else if (outer)
      lines.push_back(place(*outer));
    if (place(here).line != 0) lines.push_back(place(here));
    origin_ = static_cast<uint32_t>(origins_.size());
    origins_.push_back(std::move(lines));
    traced_[here] = origin_;
  }
  bool is_file(uint32_t number) const {
    return number < files_.size() && !files_[number].empty();
  }

  const std::string_view text_;
  const uint32_t first_file_;
  const InlinedCalls& inlined_;
  std::vector<std::string>& files_;
  std::vector<std::vector<SourceLine>>& origins_;
  size_t at_ = 0;
  SourceLine where_;
  uint32_t origin_ = 0;
  std::map<Position, SourceLine> resolved_;
  std::map<Position, uint32_t> traced_;
  std::vector<const InlinedCall*> inside_;  // from the outside in
  std::string_view debug_abbrev_, debug_info_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> outline_of(std::string_view text, ModuleText& module) {
  Unit& unit = module.units.back();
  Lexer lexer(text, unit, module);
  std::vector<Token> tokens = lexer.outline();
  unit.inlined = lexer.inlined();
  return tokens;
}

std::vector<Token> tokens_of(std::string_view body, const Unit& unit,
                             ModuleText& module) {
  return Lexer(body, unit, module).run();
}

}  // namespace simt
