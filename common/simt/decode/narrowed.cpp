// Of the model of ptxas: which loads it leaves out, or makes narrower, since
// nobody reads what they bring, or a part of it.
//
// Of a vector that is the half with all of its words that are read. Of two
// words that lie in no half, each is loaded by itself; a single word shrinks to
// the only element of it that is read.
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>
#include <vector>

#include "common/simt/decode/ptxas.h"
#include "common/simt/decode/reading.h"

namespace simt {
namespace {

constexpr int kWord = 4, kMostWords = 4;

// Bytes of what a load brings.
struct Piece {
  int begin, bytes;
  bool operator==(const Piece&) const = default;
};

// A load of memory that other threads see, as one that ptxas may change.
bool may_shrink(const Instruction& ins) {
  if (!is_load(ins) || ins.address_count != 1 || ins.element_bytes == 0 ||
      ins.strength != Strength::kWeak || ins.acquires)
    return false;
  const Space space = ins.address().space;
  return (space == Space::kGlobal || space == Space::kShared ||
          space == Space::kGeneric) &&
         ins.result_count * ins.element_bytes <= kMostWords * kWord;
}

// Who reads what, without those whose own results nobody reads.
class Needs {
 public:
  explicit Needs(const Function& f)
      : f_(f), readers_(f), dropped_(f.code.size()) {
    for (bool changed = true; std::exchange(changed, false);)
      for (size_t pc = f.code.size(); pc-- > 0;)
        if (!dropped_[pc] && may_go(f.code[pc]) && !any_is_read(f.code[pc]))
          dropped_[pc] = changed = true;
  }
  bool drops(size_t pc) const { return dropped_[pc]; }

  // Thousands may read a pointer: the first of them answers.
  bool is_read(Place place) const {
    return place != kNowhere &&
           std::ranges::any_of(readers_.of(place),
                               [&](uint32_t pc) { return !dropped_[pc]; });
  }
  std::vector<const Instruction*> readers(Place place) const {
    std::vector<const Instruction*> all;
    if (place == kNowhere) return all;
    for (uint32_t pc : readers_.of(place))
      if (!dropped_[pc]) all.push_back(&f_.code[pc]);
    return all;
  }

 private:
  static bool may_go(const Instruction& ins) {
    return ins.result_count > 0 && !ins.gives_carry &&
           (ins.pure || may_shrink(ins) ||
            (ins.kind == Kind::kCollective && ins.shuffles()));
  }
  bool any_is_read(const Instruction& ins) const {
    return std::ranges::any_of(ins.results(),
                               [&](Place place) { return is_read(place); });
  }

  const Function& f_;
  const Readers readers_;
  std::vector<bool> dropped_;
};

bool goes_by(const Instruction& ins, Place place) {
  return std::ranges::any_of(ins.addresses(),
                             [&](const Address& a) { return a.base == place; });
}

// Adds what a reader takes of a register that holds the piece.
void add_taken(const Needs& needs, const Instruction& reader, Place place,
               Piece piece, std::vector<Piece>& to) {
  if (is(reader, "mov") && reader.result_count > 1) {
    const int bytes = piece.bytes / reader.result_count;
    for (int k = 0; k < reader.result_count; ++k)
      if (needs.is_read(reader.result(k)))
        to.push_back({piece.begin + k * bytes, bytes});
  } else if (is_store(reader) && reader.source_count == 1 &&
             !goes_by(reader, place)) {
    to.push_back(
        {piece.begin, std::min<int>(piece.bytes, reader.element_bytes)});
  } else {
    to.push_back(piece);
  }
}

// What is read of what a load brings: its elements, or the parts of the only
// one that is.
std::vector<Piece> wanted(const Needs& needs, const Instruction& load) {
  std::vector<Piece> elements, parts;
  for (int k = 0; k < load.result_count; ++k) {
    const Place place = load.result(k);
    const auto readers = needs.readers(place);
    if (readers.empty()) continue;
    const Piece piece{k * load.element_bytes, load.element_bytes};
    elements.push_back(piece);
    for (const Instruction* reader : readers)
      add_taken(needs, *reader, place, piece, parts);
  }
  return elements.size() == 1 ? parts : elements;
}

// A bit for each word.
unsigned words_of(const std::vector<Piece>& pieces) {
  unsigned words = 0;
  for (const Piece& one : pieces)
    for (int at = one.begin; at < one.begin + one.bytes; ++at)
      words |= 1u << at / kWord;
  return words;
}

void make(Instruction& load, int begin, int bytes) {
  load.made_bytes = static_cast<uint8_t>(bytes);
  load.made_before = static_cast<int8_t>(-begin);
}

void narrow(Instruction& load, const std::vector<Piece>& wanted) {
  const int bytes = load.result_count * load.element_bytes;
  const unsigned words = words_of(wanted);
  const int first = std::countr_zero(words);
  const int last = std::bit_width(words) - 1;
  if (first == last) {
    const Piece& piece = wanted.front();
    if (piece.bytes < std::min(bytes, kWord) &&
        std::ranges::count(wanted, piece) == std::ssize(wanted))
      make(load, piece.begin, piece.bytes);
    else if (bytes > kWord)
      make(load, first * kWord, kWord);
  } else if (bytes == kMostWords * kWord && std::popcount(words) == 2) {
    if (first % 2 == 0 && last == first + 1) {
      make(load, first * kWord, 2 * kWord);
    } else {
      make(load, first * kWord, kWord);
      load.made_again_after = static_cast<uint8_t>((last - first) * kWord);
    }
  }
}

}  // namespace

void narrow_loads(Function& function) {
  const Needs needs(function);
  for (size_t pc = 0; pc < function.code.size(); ++pc) {
    Instruction& ins = function.code[pc];
    if (!may_shrink(ins)) continue;
    if (needs.drops(pc))
      ins.made_bytes = Instruction::kNotMade;
    else
      narrow(ins, wanted(needs, ins));
  }
}

}  // namespace simt
