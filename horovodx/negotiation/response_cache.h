// What the members of a set asked for, remembered under a number, so that they need not say it
// again. The coordinator alone decides what is remembered and forgotten. Pure.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "horovodx/negotiation/message.h"
#include "horovodx/negotiation/validate.h"

namespace horovodx::negotiation {

// Never changes while it is remembered; another request under its name erases it. Ids grow and are
// never used twice, so an id means the same to everyone, or nothing to the coordinator.
struct CachedResponse {
  std::uint64_t id = 0;
  std::string name;
  Requests requests;  // of every member, none null
  Bucket bucket;      // of this one tensor
};

class ResponseCache {
 public:
  explicit ResponseCache(std::size_t capacity) : capacity_(capacity) {}

  static bool Cacheable(Kind kind);

  const CachedResponse* Find(std::uint64_t id) const;
  const CachedResponse* FindName(const std::string& name) const;
  // Remembers, forgetting the least recently used if there are too many. Returns the new id; 0 if
  // the capacity is 0. The name is not in the cache.
  std::uint64_t Insert(std::string name, Requests requests, Bucket bucket);
  void Touch(std::uint64_t id);
  void Erase(const std::string& name);
  // Ids forgotten since the last call.
  std::vector<std::uint64_t> TakeForgotten();

 private:
  using Order = std::list<CachedResponse>;  // most recently used first
  void Forget(Order::iterator it);

  std::size_t capacity_;
  std::uint64_t last_id_ = 0;
  bool warned_ = false;
  Order order_;
  std::unordered_map<std::uint64_t, Order::iterator> by_id_;
  std::unordered_map<std::string, Order::iterator> by_name_;
  std::vector<std::uint64_t> forgotten_;
};

}  // namespace horovodx::negotiation
