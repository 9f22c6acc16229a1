#include "horovodx/collectives/patterns/concatenation.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace horovodx::collectives {
namespace {

std::string Text(const std::vector<ConstBytes>& spans) {
  std::string text;
  for (ConstBytes span : spans) {
    text.append(reinterpret_cast<const char*>(span.data()), span.size());
  }
  return text;
}

TEST(ConcatenationTest, GivesEveryStretchAcrossPiecesAndEmptyOnes) {
  const std::string whole = "abcdefghij";
  std::string copy = whole;
  const MutableBytes memory = MutableBytesOf(copy.data(), copy.size());
  const std::vector<MutableBytes> pieces{memory.first(0),      memory.first(3),
                                         memory.subspan(3, 0), memory.subspan(3, 1),
                                         memory.subspan(4, 6), memory.last(0)};
  const Concatenation all(pieces);
  ASSERT_EQ(all.size(), whole.size());
  for (std::size_t begin = 0; begin <= whole.size(); ++begin) {
    for (std::size_t size = 0; begin + size <= whole.size(); ++size) {
      EXPECT_EQ(Text(all.ToSend({begin, size})), whole.substr(begin, size));
    }
  }
}

TEST(ConcatenationTest, OfNothingIsEmpty) {
  const Concatenation none(std::vector<MutableBytes>{});
  EXPECT_EQ(none.size(), 0u);
  EXPECT_TRUE(none.ToReceive({0, 0}).empty());
}

}  // namespace
}  // namespace horovodx::collectives
