// Notes where instructions go.
#include "common/simt/observe/footprint.h"

#include <algorithm>
#include <optional>

#include "common/simt/core/program.h"
#include "common/simt/core/warp.h"

namespace simt {
namespace {

template <class T>
bool all_same(const T* values, uint32_t mask, T bits) {
  const T one = values[first_lane(mask)];
  T different = 0;
  if (mask == kAllLanes)
    for (int l = 0; l < kLanes; ++l) different |= values[l] ^ one;
  else
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      different |= values[first_lane(rest)] ^ one;
  return (different & bits) == 0;
}

// What all lanes store of a source, if it is the same.
template <class T>
std::optional<uint64_t> one_value(const Warp& warp, const Instruction& ins,
                                  int source, uint32_t mask) {
  const auto* values =
      reinterpret_cast<const T*>(warp.registers + ins.source(source));
  const int unused = 8 * (sizeof(T) - ins.element_bytes);
  const T bits = static_cast<T>(static_cast<T>(~T{0}) >> unused);
  if (!all_same<T>(values, mask, bits)) return {};
  return values[first_lane(mask)] & bits;
}

std::optional<uint64_t> one_value(const Warp& warp, const Instruction& ins,
                                  int source, uint32_t mask) {
  switch (ins.from_bytes) {
    case 2:
      return one_value<uint16_t>(warp, ins, source, mask);
    case 4:
      return one_value<uint32_t>(warp, ins, source, mask);
    case 8:
      return one_value<uint64_t>(warp, ins, source, mask);
    default:
      return {};
  }
}

}  // namespace

void StoredValue::add(uint64_t value, uint32_t bytes) {
  for (uint32_t bits = 8 * bytes; bits < 64; bits *= 2) value |= value << bits;
  if (state == State::kNone) {
    state = State::kOne;
    pattern = value;
  } else if (value != pattern) {
    state = State::kMany;
  }
}

void StoredValue::add(const StoredValue& other) {
  if (state == State::kNone)
    *this = other;
  else if (other.state != State::kNone && !equals(other))
    state = State::kMany;
}

bool is_without_host(const Instruction& ins) {
  const std::string& op = ins.statement->name();
  return (op == "atom" || op == "red") && !ins.for_system;
}

Footprint copy_of(const Footprint& footprint) {
  Footprint copy;
  for (const Touched& one : footprint) {
    copy.push_back({one.use,
                    one.weak,
                    one.without_host,
                    one.tests,
                    one.early,
                    one.file,
                    one.line,
                    one.verb,
                    {},
                    one.value});
    copy.back().bytes.insert(one.bytes);
  }
  return copy;
}

void Trails::note(const Warp& warp, const Instruction& ins, const Access& a,
                  uint32_t mask, bool early) {
  if (mask == 0) return;
  Trail& trail = trail_of(ins, a, early);
  if (a.use == Use::kStore && trail.value.state != StoredValue::State::kMany)
    note_value(trail, warp, a, mask);
  extend(trail, a, mask);
}

void Trails::note_place(const Instruction& ins, const Access& a,
                        uint32_t mask) {
  if (mask) extend(trail_of(ins, a), a, mask);
}

void Trails::note_load(const Access& a, uint32_t mask) {
  a.each_span(mask, [&](const Access::Span& span) {
    loaded_.insert(span.begin, span.end);
  });
}

bool Trails::has_loaded(const Access& a) const {
  return loaded_.contains(a.address[first_lane(a.mask)]);
}

TouchedBytes Trails::loaded() const {
  TouchedBytes bytes;
  loaded_.each_range(
      [&](uint64_t begin, uint64_t end) { bytes.insert(begin, end); });
  return bytes;
}

bool Trails::depend(const Trail& one, const Trail& other) {
  if (one.use == Use::kLoad && other.use == Use::kLoad) return false;
  const Instruction &a = *one.ins, &b = *other.ins;
  return !(a.commutes && b.commutes && a.update == b.update &&
           a.statement->op.back() == b.statement->op.back());
}

bool Trails::has_missed(Trails& of) {
  settle();
  of.settle();
  const TouchedBytes loads = loaded();
  return std::ranges::any_of(of.by_site_, [&](const auto& theirs) {
    if (!theirs || theirs->use == Use::kLoad) return false;
    if (theirs->bytes.first_common(loads)) return true;
    return grid_.loads_apart && std::ranges::any_of(by_site_, [&](auto& mine) {
             return mine && mine->ins->commutes && depend(*mine, *theirs) &&
                    mine->bytes.first_common(theirs->bytes);
           });
  });
}

void Trails::note_copy(const Instruction& ins, const Access& a, bool early) {
  Trail& trail = trail_of(ins, a, early);
  trail.value.state = StoredValue::State::kMany;
  extend(trail, a, a.mask);
}

Trails::Trail& Trails::trail_of(const Instruction& ins, const Access& a,
                                bool early) {
  const size_t first = early ? grid_.program.sites : 0;
  const size_t end = first + grid_.program.sites;
  if (by_site_.size() < end) by_site_.resize(end);
  std::unique_ptr<Trail>& trail = by_site_[first + ins.site];
  if (!trail) {
    trail = std::make_unique<Trail>();
    trail->ins = &ins;
    trail->use = a.use;
    trail->early = early;
  }
  return *trail;
}

void Trails::extend(Trail& trail, const Access& a, uint32_t mask) {
  a.each_span(mask,
              [&](const Access::Span& s) { trail.extend(s.begin, s.end); });
}

// Of what comes from elsewhere than registers nothing is known.
void Trails::note_value(Trail& trail, const Warp& warp, const Access& a,
                        uint32_t mask) const {
  const Instruction& ins = *trail.ins;
  const uint32_t bytes = ins.element_bytes;
  if (a.staged || a.matrix || bytes == 0 || ins.from_bytes < bytes ||
      ins.source_count * bytes != a.bytes) {
    trail.value.state = StoredValue::State::kMany;
    return;
  }
  for (int k = 0; k < ins.source_count; ++k) {
    const std::optional<uint64_t> one = one_value(warp, ins, k, mask);
    if (one)
      trail.value.add(*one, bytes);
    else
      trail.value.state = StoredValue::State::kMany;
  }
}

void Trails::add(Trails& other) {
  other.settle();
  loaded_.insert(std::move(other.loaded_));
  if (by_site_.size() < other.by_site_.size())
    by_site_.resize(other.by_site_.size());
  for (size_t k = 0; k < other.by_site_.size(); ++k) {
    std::unique_ptr<Trail>& mine = by_site_[k];
    std::unique_ptr<Trail>& theirs = other.by_site_[k];
    if (!theirs) continue;
    if (!mine) {
      mine = std::move(theirs);
      continue;
    }
    mine->bytes.insert(theirs->bytes);
    mine->value.add(theirs->value);
  }
}

void Trails::settle() {
  for (const std::unique_ptr<Trail>& trail : by_site_)
    if (trail) trail->bytes.insert(trail->begin, trail->end);
}

bool Trails::meets(Trails& other) {
  settle();
  other.settle();
  for (const std::unique_ptr<Trail>& mine : by_site_)
    for (const std::unique_ptr<Trail>& theirs : other.by_site_)
      if (mine && theirs && depend(*mine, *theirs) &&
          mine->bytes.first_common(theirs->bytes))
        return true;
  return false;
}

bool Trails::is_test(const Instruction& ins) const {
  const Function& function = grid_.program.function_of(ins);
  return function.tests.contains(ins.site) ||
         function.tested_stores.contains(ins.site);
}

Footprint Trails::footprint() {
  settle();
  Footprint all;
  for (const std::unique_ptr<Trail>& trail : by_site_) {
    if (!trail) continue;
    const Instruction& ins = *trail->ins;
    Touched& one = all.emplace_back();
    one.use = trail->use;
    one.weak = ins.strength == Strength::kWeak && ins.guess == Guess::kNone;
    one.without_host = one.weak || is_without_host(ins);
    one.tests = is_test(ins);
    one.early = trail->early;
    if (ins.where.line) {
      one.file = grid_.program.module->text.files.at(ins.where.file);
      one.line = ins.where.line;
    }
    one.bytes = std::move(trail->bytes);
    one.value = trail->value;
  }
  return all;
}

}  // namespace simt
