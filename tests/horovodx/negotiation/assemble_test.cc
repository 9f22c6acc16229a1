#include "horovodx/negotiation/assemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/horovodx/negotiation/request_maker.h"

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;

Single Of(const std::string& name, double ready = 0, Kind kind = Kind::kAllreduce,
          const std::string& group = "") {
  Single single;
  single.bucket = Validate(Shared({MakeRequest(name, kind)}), {{0}, 1000});
  single.ready = ready;
  single.group = group;
  return single;
}

enum class Groups { kMixed, kApart };

CutOptions By(const std::string& rule, Groups groups = Groups::kMixed, bool cautious = false) {
  CutOptions options;
  options.rule = rule;
  options.schedule.threshold = 1000;
  options.disable_group_fusion = groups == Groups::kApart;
  options.cautious = cautious;
  return options;
}

std::vector<std::vector<std::string>> NamesOf(const std::vector<Bucket>& buckets);
std::vector<std::vector<std::string>> NamesOf(const CutStep& cut) { return NamesOf(cut.buckets); }

std::vector<std::vector<std::string>> NamesOf(const std::vector<Bucket>& buckets) {
  std::vector<std::vector<std::string>> names;
  for (const Bucket& bucket : buckets) {
    names.emplace_back();
    for (const Entry& entry : bucket.entries) names.back().push_back(entry.name);
  }
  return names;
}

TEST(AssembleTest, EntriesKeepTheirWayBackToTheSingles) {
  const Assembled all = Fuse({Of("a"), Of("b", 0, Kind::kBroadcast), Of("c")}, {1000, false});
  EXPECT_THAT(NamesOf(all.buckets), ElementsAre(ElementsAre("a", "c"), ElementsAre("b")));
  EXPECT_THAT(all.order, ElementsAre(0, 2, 1));
}

TEST(AssembleTest, APlanMergesWhatIsReadyWhileTheLineIsBusy) {
  const std::vector<Single> step = {Of("a", 0), Of("b", 10e-6), Of("c", 20e-6)};
  EXPECT_THAT(NamesOf(CutPlan(step, By("fusion"))),
              ElementsAre(ElementsAre("a"), ElementsAre("b", "c")));
  EXPECT_THAT(NamesOf(CutPlan(step, By("fusion", Groups::kMixed, true))),
              ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
  EXPECT_THAT(NamesOf(CutPlan(step, By("wfbp"))),
              ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
}

TEST(AssembleTest, WithCautionNoRuleMergesWhatIsReadyLater) {
  const std::vector<Single> step = {Of("a", 0), Of("b", 0), Of("c", 1e-6)};
  for (const std::string_view rule : schedule::RuleNames()) {
    if (rule == "wfbp") continue;
    EXPECT_THAT(NamesOf(CutPlan(step, By(std::string(rule), Groups::kMixed, true))),
                ElementsAre(ElementsAre("a", "b"), ElementsAre("c")))
        << rule;
  }
}

TEST(AssembleTest, AllToAllsDoNotMerge) {
  const std::vector<Single> step = {Of("a", 0, Kind::kAlltoall), Of("b", 0, Kind::kAlltoall)};
  EXPECT_THAT(NamesOf(CutPlan(step, By("fusion"))),
              ElementsAre(ElementsAre("a"), ElementsAre("b")));
}

TEST(AssembleTest, WithGroupsApartOnlyAGroupMergesInAPlan) {
  const auto kind = Kind::kAllreduce;
  const std::vector<Single> step = {Of("a", 0, kind, "g"), Of("b", 0, kind, "g"), Of("c"), Of("d"),
                                    Of("e", 0, kind, "h")};
  EXPECT_THAT(
      NamesOf(CutPlan(step, By("fusion", Groups::kApart))),
      ElementsAre(ElementsAre("a", "b"), ElementsAre("c"), ElementsAre("d"), ElementsAre("e")));
}

}  // namespace
}  // namespace horovodx::negotiation
