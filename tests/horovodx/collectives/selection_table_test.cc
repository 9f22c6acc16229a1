#include "horovodx/collectives/selection_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/collectives/predict.h"

namespace horovodx::collectives {
namespace {

using A = AllreduceAlgorithm;

SelectInput On(int hosts, int local) {
  return {.ranks = hosts * local, .hosts = hosts, .ranks_per_host = local};
}

void ExpectCoversAllSizes(const std::vector<SelectionRow>& table) {
  ASSERT_FALSE(table.empty());
  EXPECT_EQ(table.front().begin, 0u);
  for (std::size_t i = 1; i < table.size(); ++i) EXPECT_EQ(table[i].begin, table[i - 1].end);
  EXPECT_EQ(table.back().end, std::numeric_limits<std::size_t>::max());
}

TEST(SelectionTableTest, RulesAreShownAsTheyAre) {
  const auto table = SelectionTable(On(4, 1));
  ExpectCoversAllSizes(table);
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[1].begin, 8u << 10);
  EXPECT_EQ(table[2].begin, 512u << 10);
  EXPECT_EQ(table[2].selected.why, Why::kRule);
}

TEST(SelectionTableTest, OverridesBeginAndEndWhereTheyAreGiven) {
  const AllreduceRule rules[] = {{A::kTree, 1001, 5003}};
  SelectInput input = On(4, 1);
  input.overrides = rules;
  const auto table = SelectionTable(input);
  ExpectCoversAllSizes(table);
  EXPECT_EQ(table[1].begin, 1001u);
  EXPECT_EQ(table[1].end, 5003u);
  EXPECT_EQ(table[1].selected.why, Why::kOverride);
}

TEST(SelectionTableTest, EveryTopologyHasATable) {
  AllreduceCosts costs;
  for (const auto& [hosts, ranks] : {std::pair(1, 1), {1, 3}, {2, 3}, {4, 4}, {7, 7}, {2, 16}}) {
    SelectInput input = {.ranks = ranks, .hosts = hosts, .ranks_per_host = 0};
    if (ranks % hosts == 0) input.ranks_per_host = ranks / hosts;
    ExpectCoversAllSizes(SelectionTable(input));
    input.costs = &costs;
    ExpectCoversAllSizes(SelectionTable(input));
  }
}

}  // namespace
}  // namespace horovodx::collectives
