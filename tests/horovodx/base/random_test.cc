#include "horovodx/base/random.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace horovodx {
namespace {

TEST(RandomTest, FillsEveryByteAndNeverRepeats) {
  std::set<std::vector<std::byte>> seen;
  std::vector<bool> touched(32, false);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::byte> bytes(32);
    ASSERT_TRUE(FillRandom(bytes).ok());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      if (bytes[at] != std::byte{0}) touched[at] = true;
    }
    EXPECT_TRUE(seen.insert(bytes).second);
  }
  EXPECT_EQ(touched, std::vector<bool>(32, true));
}

}  // namespace
}  // namespace horovodx
