#include "horovodx/rendezvous/store_request.h"

#include <cstring>
#include <utility>

#include "horovodx/base/little_endian.h"

namespace horovodx::rendezvous {
namespace {

constexpr std::size_t kHeadBytes = 4;

std::string ToString(ConstBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> WithHead(std::uint32_t head, const std::string& a, const std::string& b) {
  std::vector<std::byte> content(kHeadBytes + a.size() + b.size());
  PutLittle(head, content.data());
  std::memcpy(content.data() + kHeadBytes, a.data(), a.size());
  std::memcpy(content.data() + kHeadBytes + a.size(), b.data(), b.size());
  return content;
}

Status Malformed(const char* what) {
  return Status::Unknown(std::string("rendezvous: a client sent a malformed ") + what);
}

Result<StoreRequest> DecodeSet(ConstBytes content) {
  if (content.size() < kHeadBytes) return Malformed("Set");
  const auto key_size = GetLittle<std::uint32_t>(content.data());
  const ConstBytes rest = content.subspan(kHeadBytes);
  if (key_size > kMostKeyBytes || key_size > rest.size()) return Malformed("Set: key size");
  if (rest.size() - key_size > kMostValueBytes) return Malformed("Set: value size");
  StoreRequest request;
  request.tag = StoreTag::kSet;
  request.key = ToString(rest.first(key_size));
  request.value = ToString(rest.subspan(key_size));
  return request;
}

Result<StoreRequest> DecodeGet(ConstBytes content) {
  if (content.size() < kHeadBytes || content.size() > kHeadBytes + kMostKeyBytes) {
    return Malformed("Get");
  }
  StoreRequest request;
  request.tag = StoreTag::kGet;
  request.key = ToString(content.subspan(kHeadBytes));
  request.patience = decltype(request.patience)(GetLittle<std::uint32_t>(content.data()));
  return request;
}

Result<StoreRequest> DecodeForget(ConstBytes content) {
  if (content.empty() || content.size() > kMostKeyBytes) return Malformed("Forget");
  StoreRequest request;
  request.tag = StoreTag::kForget;
  request.key = ToString(content);
  return request;
}

}  // namespace

Frame Encode(const StoreRequest& request) {
  Frame frame;
  frame.tag = static_cast<std::uint32_t>(request.tag);
  if (request.tag == StoreTag::kForget) {
    const ConstBytes bytes = BytesOf(request.key.data(), request.key.size());
    frame.content.assign(bytes.begin(), bytes.end());
  } else {
    const bool set = request.tag == StoreTag::kSet;
    const auto head =
        set ? static_cast<std::uint32_t>(request.key.size()) : request.patience.count();
    frame.content = WithHead(head, request.key, request.value);
  }
  return frame;
}

Result<StoreRequest> DecodeStoreRequest(const Frame& frame) {
  switch (static_cast<StoreTag>(frame.tag)) {
    case StoreTag::kSet:
      return DecodeSet(frame.content);
    case StoreTag::kGet:
      return DecodeGet(frame.content);
    case StoreTag::kForget:
      return DecodeForget(frame.content);
    default:
      return Malformed("request: unknown kind");
  }
}

}  // namespace horovodx::rendezvous
