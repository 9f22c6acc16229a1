#include "horovodx/rendezvous/store_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace horovodx::rendezvous {
namespace {

using testing::HasSubstr;

Frame Of(StoreTag tag, const std::string& content) {
  const ConstBytes bytes = BytesOf(content.data(), content.size());
  return {static_cast<std::uint32_t>(tag), {bytes.begin(), bytes.end()}};
}

TEST(StoreRequestTest, WhatIsEncodedIsDecoded) {
  const std::string binary("\0\n\xff", 3);
  for (const StoreRequest& request :
       {StoreRequest{StoreTag::kSet, "key", binary, {}}, StoreRequest{StoreTag::kSet, "", "", {}},
        StoreRequest{
            StoreTag::kSet, std::string(kMostKeyBytes, 'k'), std::string(kMostValueBytes, 'v'), {}},
        StoreRequest{StoreTag::kGet, binary, "", std::chrono::milliseconds(4'294'967'295)},
        StoreRequest{StoreTag::kForget, "prefix/", "", {}}}) {
    const auto again = DecodeStoreRequest(Encode(request));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_TRUE(again.value() == request);
  }
}

TEST(StoreRequestTest, WhatIsMalformedIsSaidToBeSo) {
  const std::string four(4, '\0');
  const std::string long_key(kMostKeyBytes + 1, 'k');
  const struct {
    Frame frame;
    const char* what;
  } kCases[] = {
      {Of(StoreTag::kSet, "abc"), "Set"},
      {Of(StoreTag::kSet, std::string("\x05\0\0\0key", 7)), "key size"},
      {Of(StoreTag::kSet, std::string("\x01\x04\0\0", 4) + long_key), "key size"},
      {Of(StoreTag::kSet, four + std::string(kMostValueBytes + 1, 'v')), "value size"},
      {Of(StoreTag::kGet, "abc"), "Get"},
      {Of(StoreTag::kGet, four + long_key), "Get"},
      {Of(StoreTag::kForget, ""), "Forget"},
      {Of(StoreTag::kForget, long_key), "Forget"},
      {Of(StoreTag::kDone, ""), "unknown kind"},
      {Of(static_cast<StoreTag>(0), ""), "unknown kind"},
  };
  for (const auto& one : kCases) {
    EXPECT_THAT(DecodeStoreRequest(one.frame).status().message(), HasSubstr(one.what));
  }
}

}  // namespace
}  // namespace horovodx::rendezvous
