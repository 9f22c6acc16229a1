#include "horovodx/transport/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "horovodx/rendezvous/memory_store.h"

namespace horovodx::transport {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::string Join(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += word + ",";
  return all;
}

class CouncilTest : public testing::Test {
 protected:
  static constexpr int kSize = 4;
  Council CouncilOf(int me) {
    return Council(store_, "job/x", {"rank 0 on a", "rank 3 on a", "rank 5 on b", "rank 7 on b"},
                   me, "it has not called hvd.init()");
  }
  // Those present agree; what each heard.
  std::vector<Result<std::string>> AgreeAmong(const std::vector<int>& present, double seconds) {
    std::vector<Result<std::string>> heard(kSize, Status::Aborted("not there"));
    std::vector<std::thread> threads;
    for (int me : present) {
      threads.emplace_back([&, me] {
        heard[me] =
            CouncilOf(me).Agree(std::to_string(me), Join, Deadline::After(Seconds(seconds)));
      });
    }
    for (auto& thread : threads) thread.join();
    return heard;
  }
  rendezvous::MemoryStore store_;
};

TEST_F(CouncilTest, EveryoneHearsTheDecisionOverEveryonesWord) {
  for (const auto& heard : AgreeAmong({0, 1, 2, 3}, 30)) {
    ASSERT_TRUE(heard.ok()) << heard.status().ToString();
    EXPECT_EQ(heard.value(), "0,1,2,3,");
  }
}

TEST_F(CouncilTest, WhoDoesNotComeIsNamedByEveryoneElseInWordsForUsers) {
  const auto heard = AgreeAmong({0, 1, 3}, 1);
  for (int me : {0, 1, 3}) {
    EXPECT_THAT(
        heard[me].status().message(),
        AllOf(MatchesRegex("rank 5 on b is missing: it has not called hvd.init\\(\\) within "
                           "[1-9][0-9]*(\\.[0-9])? s\\. .*"),
              HasSubstr("look at what it printed last"), HasSubstr("whether its host answers"),
              HasSubstr("HOROVOD_GLOO_TIMEOUT_SECONDS"), Not(HasSubstr("job/x"))));
  }
}

// What a store says when it cannot be asked is about the store.
class BrokenStore : public rendezvous::MemoryStore {
 public:
  Result<std::string> Get(const std::string&, const Deadline&) override {
    return Status::Aborted("the store is gone");
  }
};

TEST_F(CouncilTest, NobodyIsBlamedForAStoreThatCannotBeAsked) {
  BrokenStore broken;
  for (int me : {0, 1}) {
    const Council council(broken, "job/x", {"rank 0", "rank 1"}, me, "it has not come");
    EXPECT_EQ(council.Agree("", Join, Deadline::After(Seconds(1))).status().message(),
              "the store is gone");
  }
}

// The first is missing because it missed somebody itself: that is what the others want to know.
TEST_F(CouncilTest, TheNoteOfWhoGaveUpIsPassedOn) {
  const std::vector<std::string> notes = {"note/0", "note/1"};
  const Council council(store_, "job/x", {"rank 0 on a", "rank 3 on a"}, 1, "it has not come",
                        notes);
  ASSERT_TRUE(store_.Set("note/0", "it has waited for rank 5").ok());
  for (const Council& about : {council, council.About("y")}) {
    const auto heard = about.Agree("", Join, Deadline::After(Seconds(0.05)));
    EXPECT_EQ(heard.status().message(), "rank 0 on a gave up: it has waited for rank 5");
  }
}

TEST_F(CouncilTest, AMissingFirstMemberIsNamedToo) {
  const auto heard = AgreeAmong({1, 2, 3}, 1);
  for (int me : {1, 2, 3}) {
    EXPECT_THAT(heard[me].status().message(), HasSubstr("rank 0 on a is missing"));
  }
}

TEST_F(CouncilTest, TheFirstMembersWordReachesAll) {
  EXPECT_EQ(CouncilOf(0).HearFirst("ticket", Deadline::After(Seconds(1))).value(), "ticket");
  EXPECT_EQ(CouncilOf(2).HearFirst("ignored", Deadline::After(Seconds(30))).value(), "ticket");
  const auto other = CouncilOf(2).About("other").HearFirst("", Deadline::After(Seconds(0.01)));
  EXPECT_THAT(other.status().message(), HasSubstr("rank 0 on a is missing"));
}

TEST_F(CouncilTest, OneMemberAgreesWithItself) {
  const Council alone(store_, "job/y", {"rank 0 on a"}, 0, "it has not come");
  EXPECT_EQ(alone.Agree("w0", Join, Deadline::After(Seconds(1))).value(), "w0,");
}

}  // namespace
}  // namespace horovodx::transport
