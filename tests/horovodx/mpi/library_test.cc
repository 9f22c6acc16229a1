#include "horovodx/mpi/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::mpi {
namespace {

using testing::HasSubstr;

std::string WhyNot(LibraryOptions options) {
  if (options.plugin.empty()) options.plugin = HVDX_MPI_PLUGIN;
  const auto loaded = Library::Load(options);
  EXPECT_FALSE(loaded.ok());
  EXPECT_EQ(Library::Loaded(), nullptr);
  return loaded.status().message();
}

TEST(LibraryTest, SaysWhatItLacks) {
  EXPECT_THAT(WhyNot({.plugin = "/no/such/libhorovodx_mpi.so"}), HasSubstr("/no/such"));
  EXPECT_THAT(WhyNot({.plugin = "libc.so.6"}), HasSubstr("hvdx_mpi_functions"));
  EXPECT_THAT(WhyNot({.given = "/no/such/libmpi.so.40"}), HasSubstr("/no/such/libmpi.so.40"));
  EXPECT_THAT(WhyNot({.given = "libc.so.6"}), HasSubstr("libc.so.6 is no MPI"));
}

}  // namespace
}  // namespace horovodx::mpi
