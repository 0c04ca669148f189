// Finds inlined functions in DWARF's tables, as PTX writes them: a list of
// numbers and labels.
//
//   .b8 34             an entry, and which kind of them: .debug_abbrev tells
//   .b32 5451          what was inlined
//   .b64 $L__tmp8      from here
//   .b64 $L__tmp22     to there
//   .b8 8              in this file
//   .b8 14             in this line
//
// Only such entries have a number of 32 bits before two labels. So entries need
// not be read one after the other.
#include "common/simt/decode/debug_info.h"

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace simt {
namespace {

// From the DWARF standard.
constexpr uint64_t kInlinedSubroutine = 0x1d;
constexpr uint64_t kCallFile = 0x58, kCallLine = 0x59;
constexpr uint64_t kData1 = 0x0b, kData2 = 0x05, kData4 = 0x06;

struct DebugItem {
  uint32_t bytes;
  uint64_t number = 0;
  std::string_view label;  // empty: it is a number
};

std::vector<DebugItem> items_of(std::string_view section) {
  std::vector<DebugItem> items;
  uint32_t bits = 8;
  constexpr std::string_view kBetween = " \t\r\n,";
  for (size_t at = 0;
       (at = section.find_first_not_of(kBetween, at)) < section.size();) {
    const size_t end =
        std::min(section.find_first_of(kBetween, at), section.size());
    const std::string_view word = section.substr(at, end - at);
    uint64_t number = 0;
    const bool is_number =
        std::from_chars(word.data(), word.data() + word.size(), number).ec ==
        std::errc();
    if (word.starts_with(".b"))
      std::from_chars(word.data() + 2, word.data() + word.size(), bits);
    else
      items.push_back({bits / 8, number, is_number ? "" : word});
    at = end;
  }
  return items;
}

// How many bytes file and line have, in each kind of entry that tells them.
struct CallForm {
  uint64_t file = 0, line = 0;
};

uint64_t bytes_of_form(uint64_t form) {
  return form == kData1 ? 1 : form == kData2 ? 2 : form == kData4 ? 4 : 0;
}

std::map<uint64_t, CallForm> call_forms(const std::vector<DebugItem>& items) {
  std::map<uint64_t, CallForm> forms;
  size_t k = 0;
  const auto next = [&] {
    uint64_t number = 0;
    for (int shift = 0; k < items.size() && shift < 64; shift += 7) {
      const uint64_t byte = items[k++].number;
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return number;
  };
  while (const uint64_t kind = next()) {
    const bool inlined = next() == kInlinedSubroutine;
    next();  // whether it has children
    CallForm form;
    for (;;) {
      const uint64_t attribute = next(), how = next();
      if (attribute == 0) break;
      if (attribute == kCallFile) form.file = bytes_of_form(how);
      if (attribute == kCallLine) form.line = bytes_of_form(how);
    }
    if (inlined && form.file && form.line) forms[kind] = form;
  }
  return forms;
}

bool is_label(const DebugItem& item) {
  return item.bytes == 8 && item.label.starts_with("$");
}

}  // namespace

InlinedCalls inlined_calls(std::string_view debug_abbrev,
                           std::string_view debug_info) {
  const auto forms = call_forms(items_of(debug_abbrev));
  const std::vector<DebugItem> items = items_of(debug_info);
  InlinedCalls calls;
  for (size_t k = 3; k + 1 < items.size(); ++k) {
    if (!is_label(items[k]) || !is_label(items[k + 1]) ||
        items[k - 1].bytes != 4)
      continue;
    const uint64_t low = items[k - 3].number, kind = items[k - 2].number;
    auto form = forms.find(kind);
    if (form == forms.end()) form = forms.find((low & 0x7f) | kind << 7);
    if (form == forms.end()) continue;
    size_t at = k + 2;
    const auto read = [&](uint64_t bytes) {
      uint64_t number = 0;
      for (uint64_t have = 0; have < bytes && at < items.size(); ++at) {
        number |= items[at].number << 8 * have;
        have += items[at].bytes;
      }
      return static_cast<uint32_t>(number);
    };
    const uint32_t file = read(form->second.file);
    const uint32_t line = read(form->second.line);
    calls.emplace(items[k].label,
                  InlinedCall{std::string(items[k + 1].label), file, line});
  }
  return calls;
}

}  // namespace simt
