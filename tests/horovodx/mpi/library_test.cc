#include "horovodx/mpi/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::mpi {
namespace {

using testing::HasSubstr;

std::string WhyNot(const std::string& given, const std::string& plugin = HVDX_MPI_PLUGIN) {
  LibraryOptions options;
  options.given = given;
  options.plugin = plugin;
  const auto loaded = Library::Load(options);
  EXPECT_FALSE(loaded.ok());
  EXPECT_EQ(Library::Loaded(), nullptr);
  return loaded.status().message();
}

TEST(LibraryTest, SaysWhatItLacks) {
  EXPECT_THAT(WhyNot("", "/no/such/libhorovodx_mpi.so"), HasSubstr("/no/such"));
  EXPECT_THAT(WhyNot("", "libc.so.6"), HasSubstr("hvdx_mpi_functions"));
  EXPECT_THAT(WhyNot("/no/such/libmpi.so.40"), HasSubstr("/no/such/libmpi.so.40"));
  EXPECT_THAT(WhyNot("libc.so.6"), HasSubstr("libc.so.6 is no MPI"));
}

}  // namespace
}  // namespace horovodx::mpi
