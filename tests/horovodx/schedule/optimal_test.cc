#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/play.h"
#include "tests/horovodx/schedule/brute_force.h"

namespace horovodx::schedule {
namespace {

using testing::ElementsAre;

double EndBy(const std::string& rule, const std::vector<Tensor>& tensors, const Options& options) {
  return EndOf(Play(tensors, Cut(rule, tensors, options), options.cost));
}

// Neighbours in order, of one mix, within the threshold if there are several.
void ExpectProper(const Buckets& buckets, const std::vector<Tensor>& tensors,
                  const Options& options) {
  int next = 0;
  for (const auto& bucket : buckets) {
    ASSERT_FALSE(bucket.empty());
    std::uint64_t bytes = 0;
    for (const int t : bucket) {
      ASSERT_EQ(t, next++);
      ASSERT_EQ(tensors[t].mix, tensors[bucket.front()].mix);
      bytes += tensors[t].bytes;
    }
    ASSERT_TRUE(bucket.size() == 1 || (options.threshold > 0 && bytes <= options.threshold));
  }
  ASSERT_EQ(next, static_cast<int>(tensors.size()));
}

TEST(OptimalTest, IsTheBestOfAllCutsWhateverTheCost) {
  RandomSteps random(1);
  for (int i = 0; i < 3 * kRandomCases; ++i) {
    const std::vector<Tensor> tensors = random.Tensors(i % 4 == 0 ? 2 : 1);
    Options options{.threshold = random.Threshold()};
    options.cost = i % 3 == 0 ? random.Line() : i % 3 == 1 ? random.Pieces() : random.Table();
    const Buckets buckets = Cut("optimal", tensors, options);
    ASSERT_NO_FATAL_FAILURE(ExpectProper(buckets, tensors, options)) << "case " << i;
    ASSERT_EQ(EndOf(Play(tensors, buckets, options.cost)), EarliestEnd(tensors, options))
        << "case " << i;
  }
}

TEST(OptimalTest, NoOtherRuleIsBetterAndAllAreProper) {
  RandomSteps random(2);
  int missed = 0;
  for (int i = 0; i < kRandomCases; ++i) {
    const std::vector<Tensor> tensors = random.Tensors(i % 4 == 0 ? 2 : 1);
    Options options{.threshold = random.Threshold(), .cost = random.Line()};
    options.bucket_bytes = static_cast<std::uint64_t>(random.Number(0, 64));
    const double least = EndBy("optimal", tensors, options);
    for (const std::string_view rule : RuleNames()) {
      const Buckets buckets = Cut(rule, tensors, options);
      ASSERT_NO_FATAL_FAILURE(ExpectProper(buckets, tensors, options)) << rule << ", case " << i;
      const double end = EndOf(Play(tensors, buckets, options.cost));
      ASSERT_GE(end, least) << rule << ", case " << i;
      if (rule == "mgwfbp" && end > least) ++missed;
    }
  }
  EXPECT_GT(missed, kRandomCases / 50) << "the published rule is not optimal";
}

TEST(OptimalTest, LinesAndTheGeneralWayAgreeOnLongSteps) {
  RandomSteps random(3);
  for (int i = 0; i < 20; ++i) {
    std::vector<Tensor> tensors;
    while (tensors.size() < 500) {
      for (Tensor t : random.Tensors(1)) {
        if (!tensors.empty()) t.ready += tensors.back().ready;
        tensors.push_back(t);
      }
    }
    const CostModel pieces = i % 2 == 0 ? random.Line() : random.Pieces();
    const auto function = CostModel::Of([&](std::uint64_t bytes) { return pieces.Seconds(bytes); });
    EXPECT_EQ(EndBy("optimal", tensors, {.threshold = 500, .cost = pieces}),
              EndBy("optimal", tensors, {.threshold = 500, .cost = function}));
  }
}

TEST(OptimalTest, AGroupStaysWhole) {
  // Alone, 0 would leave at once; its group comes later.
  EXPECT_THAT(Cut("optimal", {{0, 9, 0, 1}, {50, 1, 0, 1}, {90, 1, 0, -1}}, {.cost = {1.0, 1.0}}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(OptimalTest, TensorsOutOfOrderWaitForTheLatestBeforeThem) {
  // The second bucket cannot start before the first, so 1 is as good as ready at 10.
  const std::vector<Tensor> tensors = {{10, 1, 0, -1}, {0, 1, 0, -1}};
  EXPECT_THAT(Cut("optimal", tensors, {.cost = {5.0, 1.0}}), ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(EndBy("optimal", tensors, {.cost = {5.0, 1.0}}), 17);
}

TEST(OptimalTest, NoTensorsNoBuckets) { EXPECT_TRUE(Cut("optimal", {}, {}).empty()); }

// --- worked examples ----------------------------------------------------------------------------

struct Ends {
  double wfbp, merged, greedy, optimal;
};

void ExpectEnds(const std::vector<Tensor>& step, const CostModel& cost, const Ends& expected) {
  const Options options{.cost = cost};
  const std::vector<Tensor> all_at_last = [&] {
    Tensor one{step.back().ready, 0, 0, -1};
    for (const Tensor& t : step) one.bytes += t.bytes;
    return std::vector<Tensor>{one};
  }();
  EXPECT_EQ(EndBy("wfbp", step, options), expected.wfbp);
  EXPECT_EQ(EndBy("wfbp", all_at_last, options), expected.merged);
  EXPECT_EQ(EndBy("mgwfbp", step, options), expected.greedy);
  EXPECT_EQ(EndBy("optimal", step, options), expected.optimal);
}

TEST(WorkedExamplesTest, OneLargeLayerThatIsReadyFirst) {
  const std::vector<Tensor> step = StepOf({2, 2, 2}, {1, 1, 8});
  ExpectEnds(step, {3.0, 1.0}, {.wfbp = 21, .merged = 19, .greedy = 19, .optimal = 18});
  EXPECT_THAT(Cut("optimal", step, {.cost = {3.0, 1.0}}),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(WorkedExamplesTest, FourEqualLayers) {
  ExpectEnds(StepOf({1, 1, 1, 1}, {1, 1, 1, 1}), {2.0, 1.0},
             {.wfbp = 13, .merged = 10, .greedy = 10, .optimal = 9});
}

TEST(WorkedExamplesTest, SlowerAndSlowerLayersNeedNoMerging) {
  ExpectEnds(StepOf({4, 3, 2, 1}, {1, 1, 1, 1}), {2.0, 1.0},
             {.wfbp = 13, .merged = 16, .greedy = 13, .optimal = 13});
}

TEST(WorkedExamplesTest, WhereTheGreedyRuleIsOptimal) {
  ExpectEnds(StepOf({6, 5, 3.5, 3}, {1, 1, 1, 1}), {4.0, 2.0},
             {.wfbp = 27, .merged = 29.5, .greedy = 25.5, .optimal = 25.5});
}

// A tensor every 20 us, of which each could leave at once: it would end no earlier, and every
// bucket rouses threads.
TEST(OptimalTest, BucketsThatDelayNothingByBeingOneAreOne) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < 1000; ++i) tensors.push_back({.ready = 20e-6 * i, .bytes = 4096});
  Options options;
  options.cost = CostModel(2e-6, 1.0 / 4e9);
  const auto end = [&](const Buckets& cut) { return EndOf(Play(tensors, cut, options.cost)); };
  const Buckets cut = CutOptimal(tensors, options);
  EXPECT_LT(cut.size(), 100u);
  EXPECT_EQ(cut.back().size(), 1u);  // the last one is what the step ends with
  EXPECT_DOUBLE_EQ(end(cut), end(CutWfbp(tensors, options)));
  // Where nothing may be merged, nothing is.
  options.threshold = 0;
  EXPECT_EQ(CutOptimal(tensors, options).size(), 1000u);
}

}  // namespace
}  // namespace horovodx::schedule
