#include "horovodx/negotiation/set_roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;

SetRoster MakeRoster() { return SetRoster(2, {{0, 1}, {1}}); }

SetRoster::Decision Both(SetRoster& roster, const auto& wish, const auto& other) {
  const auto first = roster.Want(0, wish);
  EXPECT_TRUE(first.ok());
  EXPECT_FALSE(first.value().has_value());
  const auto second = roster.Want(1, other);
  EXPECT_TRUE(second.ok());
  return *second.value();
}

std::int32_t RefusedWith(const SetRoster::Decision& decision) {
  const auto* refused = std::get_if<SetRefused>(&decision);
  return refused == nullptr ? 0 : refused->code;
}

TEST(SetRosterTest, GivesNewIdsThenFreedOnesAndAlwaysNewChannels) {
  SetRoster roster = MakeRoster();
  auto added = std::get<SetAdded>(Both(roster, AddSet{{0}}, AddSet{{0}}));
  EXPECT_EQ(added.set, 2);
  EXPECT_THAT(added.ranks, ElementsAre(0));
  EXPECT_EQ(std::get<SetRemoved>(Both(roster, RemoveSet{1}, RemoveSet{1})).set, 1);
  roster.Remove(1);
  const auto again = std::get<SetAdded>(Both(roster, AddSet{{1}}, AddSet{{1}}));
  EXPECT_EQ(again.set, 1);
  EXPECT_GT(again.channel, added.channel);
}

TEST(SetRosterTest, TheOrderOfRanksDoesNotMatter) {
  SetRoster roster(3, {{0, 1, 2}});
  EXPECT_FALSE(roster.Want(0, AddSet{{1, 0}})->has_value());
  EXPECT_FALSE(roster.Want(1, AddSet{{0, 1}})->has_value());
  const auto last = roster.Want(2, AddSet{{0, 1}});
  EXPECT_THAT(std::get<SetAdded>(*last.value()).ranks, ElementsAre(0, 1));
}

TEST(SetRosterTest, RefusesWhatCannotBe) {
  SetRoster roster = MakeRoster();
  EXPECT_EQ(RefusedWith(Both(roster, AddSet{{1}}, AddSet{{1}})), kSetExists);
  EXPECT_EQ(RefusedWith(Both(roster, AddSet{{1, 0}}, AddSet{{0, 1}})), kSetExists);
  EXPECT_EQ(RefusedWith(Both(roster, AddSet{{0}}, AddSet{{0, 1}})), kSetInvalid);
  EXPECT_EQ(RefusedWith(Both(roster, AddSet{{0, 0}}, AddSet{{0, 0}})), kSetInvalid);
  EXPECT_EQ(RefusedWith(Both(roster, AddSet{{2}}, AddSet{{2}})), kSetInvalid);
  EXPECT_EQ(RefusedWith(Both(roster, AddSet{{-1}}, AddSet{{-1}})), kSetInvalid);
  EXPECT_EQ(RefusedWith(Both(roster, AddSet{}, AddSet{})), kSetInvalid);
  EXPECT_EQ(RefusedWith(Both(roster, RemoveSet{0}, RemoveSet{0})), kSetUnknown);
  EXPECT_EQ(RefusedWith(Both(roster, RemoveSet{9}, RemoveSet{9})), kSetUnknown);
  EXPECT_EQ(RefusedWith(Both(roster, RemoveSet{1}, AddSet{{0}})), kSetInvalid);
}

TEST(SetRosterTest, ARankWaitsForItsAnswer) {
  SetRoster roster = MakeRoster();
  EXPECT_TRUE(roster.Want(0, AddSet{{0}}).ok());
  EXPECT_FALSE(roster.Want(0, AddSet{{0}}).ok());
}

}  // namespace
}  // namespace horovodx::negotiation
