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
  EXPECT_THAT(NamesOf(CutPlan(step, "fusion", {1000, false}, false)),
              ElementsAre(ElementsAre("a"), ElementsAre("b", "c")));
  EXPECT_THAT(NamesOf(CutPlan(step, "fusion", {1000, false}, true)),
              ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
  EXPECT_THAT(NamesOf(CutPlan(step, "wfbp", {1000, false}, false)),
              ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
}

TEST(AssembleTest, AllToAllsDoNotMerge) {
  const std::vector<Single> step = {Of("a", 0, Kind::kAlltoall), Of("b", 0, Kind::kAlltoall)};
  EXPECT_THAT(NamesOf(CutPlan(step, "fusion", {1000, false}, false)),
              ElementsAre(ElementsAre("a"), ElementsAre("b")));
}

TEST(AssembleTest, WithGroupsApartOnlyAGroupMergesInAPlan) {
  const auto kind = Kind::kAllreduce;
  const std::vector<Single> step = {Of("a", 0, kind, "g"), Of("b", 0, kind, "g"), Of("c"), Of("d"),
                                    Of("e", 0, kind, "h")};
  EXPECT_THAT(
      NamesOf(CutPlan(step, "fusion", {1000, true}, false)),
      ElementsAre(ElementsAre("a", "b"), ElementsAre("c"), ElementsAre("d"), ElementsAre("e")));
}

}  // namespace
}  // namespace horovodx::negotiation
