#include "horovodx/rendezvous/memory_store.h"

namespace horovodx::rendezvous {

Status MemoryStore::Set(const std::string& key, const std::string& value) {
  MutexLock lock(mutex_);
  values_[key] = value;
  changed_.NotifyAll();
  return Status::Ok();
}

Result<std::string> MemoryStore::Get(const std::string& key, const Deadline& deadline) {
  MutexLock lock(mutex_);
  while (true) {
    if (const auto it = values_.find(key); it != values_.end()) return it->second;
    if (deadline.Passed()) {
      return Status::Unknown("rendezvous: nobody has set '" + key + "' within the time limit");
    }
    changed_.WaitUntil(mutex_, Clock::now() + deadline.Left());
  }
}

Status MemoryStore::Forget(const std::string& prefix) {
  MutexLock lock(mutex_);
  std::erase_if(values_, [&](const auto& each) { return each.first.starts_with(prefix); });
  return Status::Ok();
}

}  // namespace horovodx::rendezvous
