#include "horovodx/collectives/patterns/torus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::collectives {
namespace {

using testing::ElementsAre;
using topology::HostMap;

TEST(TorusPatternTest, NearestFactorsOfNumbersAndPrimes) {
  const int table[][3] = {{1, 1, 1}, {2, 1, 2},  {6, 2, 3},  {7, 1, 7},
                          {9, 3, 3}, {12, 3, 4}, {16, 4, 4}, {17, 1, 17}};
  for (const auto& [size, rows, columns] : table) {
    EXPECT_EQ(NearestFactors(size).rows, rows) << size;
    EXPECT_EQ(NearestFactors(size).columns, columns) << size;
  }
}

TEST(TorusPatternTest, RowsAreHostsWhereTheyAreEven) {
  const TorusPattern torus(HostMap({"a", "b", "a", "b", "a", "b"}));
  EXPECT_EQ(torus.shape().rows, 2);
  EXPECT_THAT(torus.RowOf(3), ElementsAre(1, 3, 5));
  EXPECT_THAT(torus.ColumnOf(3), ElementsAre(2, 3));
}

TEST(TorusPatternTest, UnevenHostsOneHostAndSingleRanksAreFactored) {
  for (const auto& hosts :
       {HostMap({"a", "a", "b", "b", "b", "b"}), HostMap::OneHost(6), HostMap::Grid(6, 1)}) {
    const TorusPattern torus(hosts);
    EXPECT_EQ(torus.shape().rows, 2);
    EXPECT_THAT(torus.RowOf(4), ElementsAre(3, 4, 5));
    EXPECT_THAT(torus.ColumnOf(4), ElementsAre(1, 4));
  }
}

}  // namespace
}  // namespace horovodx::collectives
