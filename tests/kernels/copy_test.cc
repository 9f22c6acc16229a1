#include "kernels/copy.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace horovodx::kernels {
namespace {

using CopyFunction = void (*)(void*, const void*, std::size_t);

TEST(CopyTest, CopiesAnyLengthBetweenAnyAddressesAndNothingBeside) {
  constexpr std::byte kUntouched{0xee};
  std::vector<std::byte> from(1000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7);
  for (CopyFunction copy : {Copy, CopyStreaming}) {
    for (std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 700}) {
      for (std::size_t shift = 0; shift < 70; shift += 3) {
        std::vector<std::byte> to(1000, kUntouched);
        copy(to.data() + shift, from.data() + 100 - shift, bytes);
        EndStreaming();
        for (std::size_t i = 0; i < to.size(); ++i) {
          const bool inside = i >= shift && i < shift + bytes;
          ASSERT_EQ(to[i], inside ? from[100 - shift + i - shift] : kUntouched);
        }
      }
    }
  }
}

}  // namespace
}  // namespace horovodx::kernels
