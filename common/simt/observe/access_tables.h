// Where the checker remembers accesses; kept from launch to launch, for it is
// large, and its pages are touched only once.
#pragma once
#include <memory>

#include "common/simt/observe/releases.h"
#include "common/simt/observe/shadow.h"

namespace simt {

struct AccessTables {
  // Of the last 16 MiB by lines and 1 MiB by words; 16 MiB in all.
  AccessTables() : global(1 << 17, 1 << 18) {}
  EventLog log;
  Shadow global;
  Releases releases;
};

// Lent to one host thread of a launch.
class LentTables {
 public:
  LentTables();
  ~LentTables();
  LentTables(const LentTables&) = delete;
  AccessTables* operator->() const { return tables_.get(); }
  AccessTables& operator*() const { return *tables_; }

 private:
  std::unique_ptr<AccessTables> tables_;
};

}  // namespace simt
