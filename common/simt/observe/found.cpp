// Keeps findings, joins those of one line, and drops what another one explains.
#include "common/simt/observe/found.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "common/simt/memory/undo.h"

namespace simt {
namespace {

void widen_by(const Remedy& remedy, Remedy& widest) {
  if (remedy.is_for_more_than(widest)) widest = remedy;
}

}  // namespace

bool Found::again(const char* kind, uint32_t site, uint32_t other) {
  const auto known = seen_.find({kind, site, other});
  if (known == seen_.end()) return false;
  ++known->second.count;
  return true;
}

void Found::widen(const char* kind, uint32_t site, uint32_t other,
                  const Remedy& remedy) {
  widen_by(remedy, seen_.at({kind, site, other}).finding.widest);
}

void Found::add(const char* kind, uint32_t site, uint32_t other,
                Finding finding) {
  if (grid_.undo) grid_.undo->give_up();  // One host thread will find it first.
  const uint64_t number = seen_.size();
  seen_[{kind, site, other}] = {std::move(finding), number, 1};
}

void Found::add(const Found& other) {
  for (const auto& [key, seen] : other.seen_) {
    const uint64_t number = seen_.size();
    const auto [known, fresh] =
        seen_.try_emplace(key, Seen{seen.finding, number, 0});
    known->second.count += seen.count;
    widen_by(seen.finding.widest, known->second.finding.widest);
  }
}

// Does the same read race, too? Who reads too early finds nothing written, or
// races: a race says more.
bool Found::is_explained(const Key& key) const {
  const auto& [kind, site, matters] = key;
  return kind == "uninitialised read" &&
         std::ranges::any_of(seen_, [&](const auto& one) {
           const auto& [other_kind, a, b] = one.first;
           return other_kind == "race" && (a == site || b == site);
         });
}

namespace {

// Several instructions of one line are one finding.
std::vector<Finding> joined_by_lines(const std::vector<Finding>& all) {
  std::vector<Finding> joined;
  for (const Finding& one : all) {
    const auto same =
        std::find_if(joined.begin(), joined.end(), [&](const Finding& f) {
          return f.kind == one.kind && f.file == one.file &&
                 f.line == one.line && f.line != 0 &&
                 f.other_file == one.other_file &&
                 f.other_line == one.other_line;
        });
    if (same == joined.end()) {
      joined.push_back(one);
    } else {
      same->count += one.count;
      widen_by(one.widest, same->widest);
    }
  }
  return joined;
}

// Whichever of the two lines came first.
bool are_between_the_same_lines(const Finding& f, const Finding& g) {
  const auto here = [](const Finding& a) { return std::pair(a.file, a.line); };
  const auto there = [](const Finding& a) {
    return std::pair(a.other_file, a.other_line);
  };
  return f.kind == g.kind && f.line != 0 &&
         ((here(f) == here(g) && there(f) == there(g)) ||
          (here(f) == there(g) && there(f) == here(g)));
}

std::string uncapitalised(std::string_view words) {
  std::string text(words);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

// The two threads that a race names may be lanes of one warp by chance, where
// all threads of the block race: __syncwarp() alone would be bad advice then,
// and where blocks race, nothing that orders a warp is any.
Finding with_remedy(Finding f, const std::vector<Finding>& all) {
  for (const Finding& g : all)
    if (are_between_the_same_lines(f, g)) widen_by(g.widest, f.widest);
  const bool is_wider = f.widest.is_for_more_than(f.remedy);
  if (is_wider && f.widest.reach != Remedy::kNever) {
    const bool warps = f.widest.reach == Remedy::kWarps;
    f.message += warps ? std::string(f.remedy.words) + ". But other warps"
                       : "Beside these two, other blocks";
    f.message += " race here as well: " + uncapitalised(f.widest.words);
  } else {
    f.message += f.widest.words;
  }
  f.message += f.besides;
  return f;
}

// The same as is_explained(), of lines: a line may read several times.
bool is_explained_by(const std::vector<Finding>& all, const Finding& f) {
  return f.kind == "uninitialised read" && f.line != 0 &&
         std::any_of(all.begin(), all.end(), [&](const Finding& g) {
           return g.kind == "race" &&
                  ((g.line == f.line && g.file == f.file) ||
                   (g.other_line == f.line && g.other_file == f.file));
         });
}

}  // namespace

std::vector<Finding> Found::all() const {
  std::vector<const Seen*> seen;
  for (const auto& [key, one] : seen_)
    if (!is_explained(key)) seen.push_back(&one);
  std::sort(seen.begin(), seen.end(),
            [](const Seen* a, const Seen* b) { return a->number < b->number; });
  std::vector<Finding> counted;
  for (const Seen* one : seen) {
    counted.push_back(one->finding);
    counted.back().count = one->count;
  }
  const std::vector<Finding> joined = joined_by_lines(counted);
  std::vector<Finding> kept;
  for (const Finding& f : joined)
    if (!is_explained_by(joined, f)) kept.push_back(with_remedy(f, joined));
  return kept;
}

}  // namespace simt
