#include "horovodx/negotiation/response_cache.h"

#include <utility>

#include "horovodx/base/log.h"

namespace horovodx::negotiation {

bool ResponseCache::Cacheable(Kind kind) {
  return kind == Kind::kAllreduce || kind == Kind::kAdasum || kind == Kind::kAllgather ||
         kind == Kind::kAlltoall || kind == Kind::kReducescatter;
}

const CachedResponse* ResponseCache::Find(std::uint64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

const CachedResponse* ResponseCache::FindName(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &*it->second;
}

std::uint64_t ResponseCache::Insert(std::string name, Requests requests, Bucket bucket) {
  if (capacity_ == 0) return 0;
  order_.push_front({++last_id_, std::move(name), std::move(requests), std::move(bucket)});
  by_id_[last_id_] = order_.begin();
  by_name_[order_.front().name] = order_.begin();
  if (order_.size() > capacity_) {
    Forget(std::prev(order_.end()));
    if (!warned_) {
      HVDX_LOG(kWarning) << "A response has been evicted from cache: more than " << capacity_
                         << " names are in use. A larger HOROVOD_CACHE_CAPACITY (or 0, no cache) "
                            "saves the exchange of requests in full.";
    }
    warned_ = true;
  }
  return last_id_;
}

void ResponseCache::Touch(std::uint64_t id) {
  const auto it = by_id_.find(id);
  if (it != by_id_.end()) order_.splice(order_.begin(), order_, it->second);
}

void ResponseCache::Erase(const std::string& name) {
  const auto it = by_name_.find(name);
  if (it != by_name_.end()) Forget(it->second);
}

std::vector<std::uint64_t> ResponseCache::TakeForgotten() { return std::exchange(forgotten_, {}); }

void ResponseCache::Forget(Order::iterator it) {
  forgotten_.push_back(it->id);
  by_id_.erase(it->id);
  by_name_.erase(it->name);
  order_.erase(it);
}

}  // namespace horovodx::negotiation
