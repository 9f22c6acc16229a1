#include "kernels/cpu/dispatch.h"

#include <gtest/gtest.h>

#include "tests/kernels/values.h"

namespace horovodx::kernels::cpu {
namespace {

constexpr Level kAllLevels[] = {Level::kScalar, Level::kAvx2, Level::kAvx512};

TEST(DispatchTest, StartsWithTheBestSupportedLevel) {
  Level best = Level::kScalar;
  for (const Level level : kAllLevels) {
    if (Supports(level)) best = level;
  }
  EXPECT_EQ(ActiveLevel(), best) << NameOf(best);
}

TEST(DispatchTest, ForcesSupportedLevelsOnly) {
  const Level before = ActiveLevel();
  for (const Level level : kAllLevels) {
    const Level old = ActiveLevel();
    EXPECT_EQ(ForceLevel(level), Supports(level)) << NameOf(level);
    EXPECT_EQ(ActiveLevel(), Supports(level) ? level : old);
  }
  EXPECT_TRUE(ForceLevel(before));
}

TEST(DispatchTest, EveryLevelHasEveryKernel) {
  const Level before = ActiveLevel();
  for (const Level level : kAllLevels) {
    if (!ForceLevel(level)) continue;
    for (const ElementType type : kAllTypes) {
      for (const ReduceOp op : kAllOps) EXPECT_NE(ReduceKernelOf(type, op), nullptr);
      for (const ElementType to : kAllTypes) EXPECT_NE(CastKernelOf(to, type), nullptr);
    }
  }
  EXPECT_TRUE(ForceLevel(before));
}

TEST(DispatchTest, LevelsDoNotShareKernels) {
  const Level before = ActiveLevel();
  if (!ForceLevel(Level::kAvx2)) GTEST_SKIP() << "this machine does not support avx2";
  const ReduceKernel vector = ReduceKernelOf(ElementType::kFloat32, ReduceOp::kSum);
  ASSERT_TRUE(ForceLevel(Level::kScalar));
  EXPECT_NE(ReduceKernelOf(ElementType::kFloat32, ReduceOp::kSum), vector);
  EXPECT_TRUE(ForceLevel(before));
}

}  // namespace
}  // namespace horovodx::kernels::cpu
