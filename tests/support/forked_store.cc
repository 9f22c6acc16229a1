#include "tests/support/forked_store.h"

#include <sys/mman.h>

#include <cstring>
#include <string_view>

#include "horovodx/base/check.h"

namespace horovodx::testing_support {
namespace {

constexpr std::size_t kEntryBytes = 4 << 10;
constexpr std::size_t kEntries = 8 << 10;
constexpr std::size_t kLogBytes = kEntryBytes * (kEntries + 1);  // touched as it fills

}  // namespace

// All of one size: who is killed while writing one leaves a gap and hides nothing behind it.
struct ForkedStore::Entry {
  std::atomic<bool> complete;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
  char text[kEntryBytes - 3 * sizeof(std::uint32_t)];  // key, value
};

struct ForkedStore::Log {
  BellWord bell;
  std::atomic<std::size_t> used;
  alignas(64) Entry entries[kEntries];
};

ForkedStore::ForkedStore() {
  static_assert(sizeof(Entry) == kEntryBytes && sizeof(Log) <= kLogBytes);
  void* memory = ::mmap(nullptr, kLogBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HVDX_CHECK(memory != MAP_FAILED);
  log_ = static_cast<Log*>(memory);
}

ForkedStore::~ForkedStore() { ::munmap(log_, kLogBytes); }

Status ForkedStore::Set(const std::string& key, const std::string& value) {
  const std::size_t at = log_->used.fetch_add(1);
  HVDX_CHECK(at < kEntries && key.size() + value.size() <= sizeof(Entry::text));
  Entry& entry = log_->entries[at];
  entry.key_bytes = static_cast<std::uint32_t>(key.size());
  entry.value_bytes = static_cast<std::uint32_t>(value.size());
  std::memcpy(entry.text, key.data(), key.size());
  std::memcpy(entry.text + key.size(), value.data(), value.size());
  entry.complete.store(true);
  Bell(&log_->bell).Ring();
  return Status::Ok();
}

bool ForkedStore::Find(const std::string& key, std::string* value) const {
  for (std::size_t at = log_->used.load(); at-- > 0;) {
    const Entry& entry = log_->entries[at];
    if (!entry.complete.load()) continue;  // its writer rings when it is
    if (std::string_view(entry.text, entry.key_bytes) != key) continue;
    value->assign(entry.text + entry.key_bytes, entry.value_bytes);
    return true;
  }
  return false;
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
