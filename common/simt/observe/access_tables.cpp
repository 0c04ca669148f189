// Lends the tables that no launch uses now, or makes new ones.
#include "common/simt/observe/access_tables.h"

#include <mutex>
#include <utility>
#include <vector>

namespace simt {
namespace {

std::mutex& tables_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::vector<std::unique_ptr<AccessTables>>& idle_tables() {
  static auto* tables = new std::vector<std::unique_ptr<AccessTables>>;
  return *tables;
}

std::unique_ptr<AccessTables> take_tables() {
  const std::lock_guard lock(tables_mutex());
  auto& idle = idle_tables();
  if (idle.empty()) return std::make_unique<AccessTables>();
  std::unique_ptr<AccessTables> tables = std::move(idle.back());
  idle.pop_back();
  if (tables->log.full()) return std::make_unique<AccessTables>();
  tables->releases.clear();
  return tables;
}

}  // namespace

LentTables::LentTables() : tables_(take_tables()) {}

LentTables::~LentTables() {
  const std::lock_guard lock(tables_mutex());
  idle_tables().push_back(std::move(tables_));
}

}  // namespace simt
