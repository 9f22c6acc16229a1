#include "horovodx/collectives/piece_cursor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace horovodx::collectives {
namespace {

TEST(PieceCursorTest, StretchesEndWhereThePieceOrTheWishEnds) {
  std::int32_t a[5];
  std::int32_t b[3];
  const std::vector<kernels::Piece> pieces{{a, 5}, {nullptr, 0}, {b, 3}};
  PieceCursor cursor(pieces, sizeof(std::int32_t));
  Stretch stretch = cursor.Next(2);
  EXPECT_EQ(stretch.data, reinterpret_cast<std::byte*>(a));
  EXPECT_EQ(stretch.count, 2u);
  stretch = cursor.Next(100);
  EXPECT_EQ(stretch.data, reinterpret_cast<std::byte*>(a + 2));
  EXPECT_EQ(stretch.count, 3u);
  stretch = cursor.Next(3);
  EXPECT_EQ(stretch.data, reinterpret_cast<std::byte*>(b));
  EXPECT_EQ(stretch.count, 3u);
}

TEST(PieceCursorTest, SkipLeavesOutAcrossPieces) {
  std::int32_t a[5];
  std::int32_t b[3];
  const std::vector<kernels::Piece> pieces{{a, 5}, {b, 3}};
  PieceCursor cursor(pieces, sizeof(std::int32_t));
  cursor.Skip(6);
  const Stretch stretch = cursor.Next(10);
  EXPECT_EQ(stretch.data, reinterpret_cast<std::byte*>(b + 1));
  EXPECT_EQ(stretch.count, 2u);
}

TEST(PieceCursorTest, PiecesWithoutMemoryAndTheEndGiveNull) {
  std::int8_t a[1];
  const std::vector<kernels::Piece> pieces{{nullptr, 10}, {a, 1}};
  PieceCursor cursor(pieces, 1);
  Stretch stretch = cursor.Next(4);
  EXPECT_EQ(stretch.data, nullptr);
  EXPECT_EQ(stretch.count, 4u);
  stretch = cursor.Next(40);
  EXPECT_EQ(stretch.data, nullptr);
  EXPECT_EQ(stretch.count, 6u);
  EXPECT_NE(cursor.Next(40).data, nullptr);
  stretch = cursor.Next(40);
  EXPECT_EQ(stretch.data, nullptr);
  EXPECT_EQ(stretch.count, 40u);
}

}  // namespace
}  // namespace horovodx::collectives
