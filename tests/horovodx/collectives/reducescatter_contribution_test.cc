#include "horovodx/collectives/reducescatter_contribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace horovodx::collectives {
namespace {

using testing::ElementsAre;

std::byte* Memory(std::vector<float>& v) { return reinterpret_cast<std::byte*>(v.data()); }

TEST(ContributionTest, UnscaledStretchesAreSentFromWhereTheyLie) {
  std::vector<float> first{1, 2};
  std::vector<float> second{3, 4};
  std::vector<float> room(4, -1);
  const MutableBuffer in(ElementType::kFloat32, {{first.data(), 2}, {second.data(), 2}});
  const Contribution mine(in, {}, 4);
  const auto send = mine.ToSend({1, 2}, Memory(room));
  ASSERT_EQ(send.size(), 2u);
  EXPECT_EQ(static_cast<const void*>(send[0].data()), &first[1]);
  EXPECT_EQ(static_cast<const void*>(send[1].data()), &second[0]);
  EXPECT_EQ(mine.InOnePiece({2, 2}, Memory(room)), second.data());
  EXPECT_THAT(room, testing::Each(-1.0f));
}

TEST(ContributionTest, StretchAcrossPiecesIsCopiedIntoOne) {
  std::vector<float> first{1, 2};
  std::vector<float> second{3, 4};
  std::vector<float> room(2);
  const MutableBuffer in(ElementType::kFloat32, {{first.data(), 2}, {second.data(), 2}});
  EXPECT_EQ(Contribution(in, {}, 4).InOnePiece({1, 2}, Memory(room)), room.data());
  EXPECT_THAT(room, ElementsAre(2, 3));
}

TEST(ContributionTest, ScaledStretchesAreCopiesAndTheInputStays) {
  std::vector<float> values{1, 2, 3};
  std::vector<float> room(3);
  std::vector<float> partial{10, 10};
  const MutableBuffer in(values);
  Contribution mine(in, {.prescale = 2.0}, 3);
  const auto send = mine.ToSend({0, 3}, Memory(room));
  ASSERT_EQ(send.size(), 1u);
  EXPECT_THAT(room, ElementsAre(2, 4, 6));
  mine.AddTo(Memory(partial), {1, 2});
  EXPECT_THAT(partial, ElementsAre(14, 16));
  EXPECT_THAT(room, ElementsAre(2, 4, 6));  // may still be on its way out
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace horovodx::collectives
