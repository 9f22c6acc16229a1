#include "tests/support/forked_store.h"

#include <sys/mman.h>

#include <cstring>
#include <string_view>

#include "horovodx/base/check.h"

namespace horovodx::testing_support {
namespace {

constexpr std::size_t kLogBytes = 4 << 20;  // touched as it fills

}  // namespace

struct ForkedStore::Entry {
  std::atomic<bool> complete;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
  char text[1];  // key, value
};

struct ForkedStore::Log {
  BellWord bell;
  std::atomic<std::size_t> used;
  alignas(64) char entries[1];
};

ForkedStore::ForkedStore() {
  void* memory = ::mmap(nullptr, kLogBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HVDX_CHECK(memory != MAP_FAILED);
  log_ = static_cast<Log*>(memory);
}

ForkedStore::~ForkedStore() { ::munmap(log_, kLogBytes); }

Status ForkedStore::Set(const std::string& key, const std::string& value) {
  const std::size_t bytes = (sizeof(Entry) + key.size() + value.size() + 15) / 16 * 16;
  const std::size_t at = log_->used.fetch_add(bytes);
  HVDX_CHECK(sizeof(Log) + at + bytes + sizeof(Entry) <= kLogBytes);
  auto* entry = reinterpret_cast<Entry*>(log_->entries + at);
  entry->key_bytes = static_cast<std::uint32_t>(key.size());
  entry->value_bytes = static_cast<std::uint32_t>(value.size());
  char* text = log_->entries + at + offsetof(Entry, text);
  std::memcpy(text, key.data(), key.size());
  std::memcpy(text + key.size(), value.data(), value.size());
  entry->complete.store(true);
  Bell(&log_->bell).Ring();
  return Status::Ok();
}

bool ForkedStore::Find(const std::string& key, std::string* value) const {
  bool found = false;
  for (std::size_t at = 0; at < log_->used.load();) {
    const auto* entry = reinterpret_cast<const Entry*>(log_->entries + at);
    if (!entry->complete.load()) break;  // its writer rings when it is
    const char* text = log_->entries + at + offsetof(Entry, text);
    if (std::string_view(text, entry->key_bytes) == key) {
      value->assign(text + entry->key_bytes, entry->value_bytes);
      found = true;
    }
    at += (sizeof(Entry) + entry->key_bytes + entry->value_bytes + 15) / 16 * 16;
  }
  return found;
}

Result<std::string> ForkedStore::Get(const std::string& key, const Deadline& deadline) {
  Bell::Listener listener{Bell(&log_->bell)};
  std::string value;
  while (!Find(key, &value)) {
    if (listener.Sleep(deadline)) continue;
    if (Find(key, &value)) break;
    return Status::Unknown("rendezvous: nobody has set '" + key + "' within the time limit");
  }
  return value;
}

}  // namespace horovodx::testing_support
