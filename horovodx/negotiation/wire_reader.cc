#include "horovodx/negotiation/wire_reader.h"

namespace horovodx::negotiation {

void WireReader::Fail(const std::string& what) {
  if (!status_.ok()) return;
  status_ = Status::Unknown("negotiation: bad message at byte " + std::to_string(at_) + " of " +
                            std::to_string(bytes_.size()) + ": " + what);
}

bool WireReader::Need(std::uint64_t count, const char* what) {
  if (!ok()) return false;
  if (count <= bytes_.size() - at_) return true;
  Fail(std::string(what) + " needs " + std::to_string(count) + " bytes, " +
       std::to_string(bytes_.size() - at_) + " are left");
  return false;
}

std::string WireReader::Text() {
  const auto size = Number<std::uint32_t>();
  if (!Need(size, "a text")) return {};
  std::string text(reinterpret_cast<const char*>(bytes_.data() + at_), size);
  at_ += size;
  return text;
}

void WireReader::End() {
  if (ok() && at_ != bytes_.size()) {
    Fail(std::to_string(bytes_.size() - at_) + " bytes too many");
  }
}

}  // namespace horovodx::negotiation
