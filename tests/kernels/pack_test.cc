#include "kernels/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/cast.h"
#include "tests/kernels/values.h"

namespace horovodx::kernels {
namespace {

using ::testing::ElementsAre;

// Tensors of the given sizes, holding 0, 1, 2, ... through all of them.
class Tensors {
 public:
  explicit Tensors(const std::vector<std::size_t>& sizes) {
    float next = 0;
    for (const std::size_t size : sizes) {
      std::vector<float>& tensor = memory_.emplace_back(size);
      for (float& element : tensor) element = next++;
      // An empty tensor may have no memory at all.
      pieces_.push_back({size == 0 ? nullptr : tensor.data(), size});
      count_ += size;
    }
  }
  const Piece* pieces() const { return pieces_.data(); }
  std::size_t piece_count() const { return pieces_.size(); }
  std::size_t count() const { return count_; }
  std::vector<float> Concatenated() const {
    std::vector<float> all;
    for (const std::vector<float>& tensor : memory_) {
      all.insert(all.end(), tensor.begin(), tensor.end());
    }
    return all;
  }

 private:
  std::vector<std::vector<float>> memory_;
  std::vector<Piece> pieces_;
  std::size_t count_ = 0;
};

const std::vector<std::size_t> kSizes = {0, 3, 1, 0, 0, 10, 1, 5, 0};

TEST(PackTest, PacksEveryRange) {
  const Tensors tensors(kSizes);
  for (std::size_t begin = 0; begin <= tensors.count(); ++begin) {
    for (std::size_t count = 0; begin + count <= tensors.count(); ++count) {
      std::vector<float> expected(count + 1, -1.0f);
      std::iota(expected.begin(), expected.end() - 1, static_cast<float>(begin));
      std::vector<float> to(count + 1, -1.0f);
      Pack(ElementType::kFloat32, to.data(), ElementType::kFloat32, tensors.pieces(),
           tensors.piece_count(), begin, count);
      ASSERT_EQ(to, expected) << begin << ", " << count;
    }
  }
}

TEST(PackTest, UnpacksEveryRangeAndTouchesNothingElse) {
  for (std::size_t begin = 0; begin <= 20; ++begin) {
    for (std::size_t count = 0; begin + count <= 20; ++count) {
      const Tensors tensors(kSizes);
      std::vector<float> expected = tensors.Concatenated();
      std::vector<float> from(count);
      for (std::size_t i = 0; i < count; ++i) {
        from[i] = 100.0f + static_cast<float>(i);
        expected[begin + i] = from[i];
      }
      Unpack(ElementType::kFloat32, tensors.pieces(), tensors.piece_count(), begin, count,
             ElementType::kFloat32, from.data());
      ASSERT_EQ(tensors.Concatenated(), expected) << begin << ", " << count;
    }
  }
}

TEST(PackTest, ScalesOnTheWay) {
  const Tensors tensors({2, 2});
  std::vector<float> to(3);
  Pack(ElementType::kFloat32, to.data(), ElementType::kFloat32, tensors.pieces(), 2, 1, 3, 0.5);
  EXPECT_THAT(to, ElementsAre(0.5f, 1.0f, 1.5f));
  Unpack(ElementType::kFloat32, tensors.pieces(), 2, 0, 3, ElementType::kFloat32, to.data(), 4.0);
  EXPECT_THAT(tensors.Concatenated(), ElementsAre(2, 4, 6, 3));
}

TEST(PackTest, ThereAndBackThroughFloat16InSegments) {
  const Tensors tensors({100, 1, 333, 7, 59});
  const std::vector<float> before = tensors.Concatenated();
  for (std::size_t begin = 0; begin < tensors.count(); begin += 64) {
    const std::size_t count = std::min<std::size_t>(64, tensors.count() - begin);
    std::vector<std::uint16_t> segment(count);
    Pack(ElementType::kFloat16, segment.data(), ElementType::kFloat32, tensors.pieces(), 5, begin,
         count, 2.0);
    Unpack(ElementType::kFloat32, tensors.pieces(), 5, begin, count, ElementType::kFloat16,
           segment.data(), 0.5);
  }
  EXPECT_EQ(tensors.Concatenated(), before);  // all are whole numbers that float16 holds
}

TEST(PackTest, EveryTypePacksAsItCasts) {
  for (const ElementType type : kAllTypes) {
    for (const ElementType to_type : kAllTypes) {
      Elements tensor = SomeElements(type, 50, 3);
      const Piece halves[] = {
          {tensor.data(), 20},
          {static_cast<std::byte*>(tensor.data()) + 20 * SizeOf(type), 30},
      };
      Elements packed(to_type, 50);
      Pack(to_type, packed.data(), type, halves, 2, 0, 50, 0.5);
      Elements expected(to_type, 50);
      Cast(to_type, expected.data(), type, tensor.data(), 50, 0.5);
      EXPECT_TRUE(Same(expected, packed));
    }
  }
}

TEST(PackTest, NoPiecesNoRange) {
  Pack(ElementType::kInt8, nullptr, ElementType::kInt8, nullptr, 0, 0, 0);
  Unpack(ElementType::kInt8, nullptr, 0, 0, 0, ElementType::kInt8, nullptr);
}

}  // namespace
}  // namespace horovodx::kernels
