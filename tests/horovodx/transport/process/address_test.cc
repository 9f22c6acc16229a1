#include "horovodx/transport/process/address.h"

#include <gtest/gtest.h>

namespace horovodx::transport::process {
namespace {

TEST(MostReachableTest, MeaningOfTheHostsNameWinsThenTheFirstThatIsNoBridge) {
  const std::vector<LocalAddress> all{
      {"docker0", "172.17.0.1"}, {"eth0", "10.0.0.7"}, {"eth1", "192.168.1.7"}};
  EXPECT_EQ(MostReachable(all, {"192.168.1.7"}), "192.168.1.7");
  EXPECT_EQ(MostReachable(all, {"127.0.1.1", "192.168.1.7"}), "192.168.1.7");
  EXPECT_EQ(MostReachable(all, {"127.0.1.1"}), "10.0.0.7");
  EXPECT_EQ(MostReachable(all, {}), "10.0.0.7");
  EXPECT_EQ(MostReachable({all[0]}, {}), "172.17.0.1");
  EXPECT_EQ(MostReachable({}, {"127.0.1.1"}), "");
}

TEST(ChooseAddressTest, OptionsDecideElseOneHostStaysWithItself) {
  Options options;
  EXPECT_EQ(ChooseAddress(options, true).value(), "127.0.0.1");
  options.interface = "lo";
  EXPECT_EQ(ChooseAddress(options, false).value(), "127.0.0.1");
  options.interface = "no-such-interface";
  EXPECT_FALSE(ChooseAddress(options, false).ok());
  options.address = "10.1.2.3";
  EXPECT_EQ(ChooseAddress(options, true).value(), "10.1.2.3");
}

}  // namespace
}  // namespace horovodx::transport::process
