// ForkedStore: a store for ranks that are forks of one test: made before the fork, seen by all.
//
// A log of key and value in shared memory. Its bell makes waiting cheap; there is no lock that a
// killed rank could take with it, and nothing on disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "horovodx/base/bell.h"
#include "horovodx/rendezvous/store.h"

namespace horovodx::testing_support {

class ForkedStore : public rendezvous::Store {
 public:
  ForkedStore();
  ~ForkedStore() override;
  ForkedStore(const ForkedStore&) = delete;
  ForkedStore& operator=(const ForkedStore&) = delete;

  Status Set(const std::string& key, const std::string& value) override;
  Result<std::string> Get(const std::string& key, const Deadline& deadline) override;
  Status Forget(const std::string&) override { return Status::Ok(); }  // a log keeps all

 private:
  struct Entry;
  struct Log;
  // The latest value of `key`; false if there is none.
  bool Find(const std::string& key, std::string* value) const;

  Log* log_;
};

}  // namespace horovodx::testing_support
