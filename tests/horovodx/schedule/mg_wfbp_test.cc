#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/schedule/cut.h"
#include "tests/horovodx/schedule/brute_force.h"

namespace horovodx::schedule {
namespace {

using testing::ElementsAre;

// The rule as it is published, word for word: layers 1 to L in forward order, all starts computed
// anew after every merge.
class Published {
 public:
  Published(const std::vector<Tensor>& step, double a, double b) : layers_(step.size()), a_(a) {
    const std::size_t count = step.size();
    p_.resize(count + 2);
    ready_.resize(count + 2);
    tc_.resize(count + 2);
    for (std::size_t l = 1; l <= count; ++l) {
      p_[l] = static_cast<double>(step[count - l].bytes);
      ready_[l] = step[count - l].ready;  // the end of its backward pass
      tc_[l] = a + b * p_[l];
    }
    std::vector<bool> merged(count + 2, false);
    std::vector<double> start = Starts();
    for (std::size_t l = count; l >= 2; --l) {
      if (ready_[l - 1] - start[l] >= a_) continue;
      tc_[l] = 0;
      p_[l - 1] += p_[l];
      tc_[l - 1] = a + b * p_[l - 1];
      merged[l] = true;
      start = Starts();
    }
    for (std::size_t l = count; l >= 1; --l) {
      if (l == count || !merged[l + 1]) buckets_.emplace_back();
      buckets_.back().push_back(static_cast<int>(count - l));
    }
  }
  const Buckets& buckets() const { return buckets_; }

 private:
  std::vector<double> Starts() const {
    std::vector<double> start(layers_ + 2, 0.0);
    start[layers_] = ready_[layers_];
    for (std::size_t l = layers_ - 1; l >= 1; --l) {
      start[l] = std::max(start[l + 1] + tc_[l + 1], ready_[l]);
    }
    return start;
  }

  std::size_t layers_;
  double a_;
  std::vector<double> p_, ready_, tc_;
  Buckets buckets_;
};

TEST(MgWfbpTest, IsThePublishedRule) {
  RandomSteps random(4);
  for (int i = 0; i < kRandomCases; ++i) {
    const std::vector<Tensor> tensors = random.Tensors(1);
    const double a = random.Number(0, 20);
    const double b = random.Number(0, 3);
    ASSERT_EQ(Cut("mgwfbp", tensors, {.threshold = 1000, .cost = {a, b}}),
              Published(tensors, a, b).buckets())
        << "case " << i;
  }
}

TEST(MgWfbpTest, WaitsForLessThanALatency) {
  const Options options{.cost = {3.0, 1.0}};
  EXPECT_THAT(Cut("mgwfbp", {{0, 1, 0, -1}, {2, 1, 0, -1}}, options),
              ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(Cut("mgwfbp", {{0, 1, 0, -1}, {3, 1, 0, -1}}, options),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(MgWfbpTest, TheThresholdAndMixesBoundABucket) {
  EXPECT_THAT(Cut("mgwfbp", {{0, 60, 0, -1}, {0, 40, 0, -1}, {0, 1, 0, -1}, {0, 1, 1, -1}},
                  {.threshold = 100, .cost = {3.0, 1.0}}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
}

TEST(MgWfbpTest, NoTensorsNoBuckets) { EXPECT_TRUE(Cut("mgwfbp", {}, {}).empty()); }

}  // namespace
}  // namespace horovodx::schedule
