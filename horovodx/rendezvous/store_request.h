// What a client asks of the store, and its bytes. Pure; README.md has them one by one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "horovodx/base/frame.h"
#include "horovodx/base/status.h"
#include "horovodx/rendezvous/store_protocol.h"

namespace horovodx::rendezvous {

struct StoreRequest {
  StoreTag tag = StoreTag::kGet;                                 // kSet, kGet or kForget
  std::string key;                                               // kForget: what keys begin with
  std::string value;                                             // kSet
  std::chrono::duration<std::uint32_t, std::milli> patience{0};  // kGet: how long to wait

  bool operator==(const StoreRequest&) const = default;
};

Frame Encode(const StoreRequest& request);
// From any bytes; an error says what is malformed. What it returns is within the limits.
Result<StoreRequest> DecodeStoreRequest(const Frame& frame);

}  // namespace horovodx::rendezvous
