// HMAC-SHA256 (RFC 2104): proves that who sent a message knows a key.
#pragma once

#include "horovodx/base/bytes.h"
#include "horovodx/base/sha256.h"

namespace horovodx {

Digest HmacSha256(ConstBytes key, ConstBytes message);

// Takes the same time wherever the two differ, so that a wrong proof teaches nothing about the
// right one. Different sizes are never equal.
bool EqualInConstantTime(ConstBytes a, ConstBytes b);

}  // namespace horovodx
