// Loads that some lanes drop. Where `if (c) v = *p;` stands in the source, the
// compiler may load for all lanes, compute for all, and select in the end: the
// others never see *p.
#pragma once
#include <cstdint>
#include <optional>

#include "common/simt/decode/definitions.h"
#include "common/simt/decode/reading.h"

namespace simt {

class Keepers {
 public:
  Keepers(const Function& f, const Definitions& definitions,
          const Readers& readers)
      : f_(f), definitions_(definitions), readers_(readers) {}

  // Who keeps what a load brings, if that is certain when it is done.
  std::optional<Keeper> of(uint32_t load) const;

 private:
  struct Choice {
    Place predicate;
    bool value;
  };
  static std::optional<Choice> choice_at(const Instruction& ins, Place value);
  std::optional<Keeper> known_at(uint32_t load, uint32_t pc,
                                 const Choice& choice) const;
  bool stays(Place place, uint32_t load, uint32_t pc) const;

  const Function& f_;
  const Definitions& definitions_;
  const Readers& readers_;
};

}  // namespace simt
