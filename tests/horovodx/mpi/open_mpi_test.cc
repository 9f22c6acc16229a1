// What open_mpi.h says of Open MPI's binary interface, compared with its own header.
#include "horovodx/mpi/open_mpi.h"

#include <gtest/gtest.h>
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <type_traits>

#ifdef OPEN_MPI  // another MPI's header has nothing to compare

namespace horovodx::mpi::open_mpi {
namespace {

static_assert(sizeof(MPI_Comm) == sizeof(Handle) && std::is_pointer_v<MPI_Comm>);
static_assert(sizeof(MPI_Request) == sizeof(Handle) && sizeof(MPI_Datatype) == sizeof(Handle));
static_assert(sizeof(Status) == sizeof(MPI_Status));
static_assert(offsetof(Status, source) == offsetof(MPI_Status, MPI_SOURCE));
static_assert(offsetof(Status, tag) == offsetof(MPI_Status, MPI_TAG));
static_assert(offsetof(Status, error) == offsetof(MPI_Status, MPI_ERROR));
static_assert(kSuccess == MPI_SUCCESS && kUndefined == MPI_UNDEFINED);
static_assert(kSharedMemory == MPI_COMM_TYPE_SHARED);
static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_MULTIPLE == 3);
static_assert(kLongestText >= MPI_MAX_LIBRARY_VERSION_STRING);
static_assert(kLongestText >= MPI_MAX_PROCESSOR_NAME && kLongestText >= MPI_MAX_ERROR_STRING);

TEST(OpenMpiTest, HandlesAreTheHeaders) {
  EXPECT_EQ(kInPlace, MPI_IN_PLACE);
  EXPECT_EQ(static_cast<void*>(kIgnoreStatus), static_cast<void*>(MPI_STATUS_IGNORE));
  Library library;
  const char* const names[] = {"libmpi.so.40", nullptr};
  ASSERT_TRUE(Open(names, library)) << library.text;
  EXPECT_EQ(library.object.comm_world, MPI_COMM_WORLD);
  EXPECT_EQ(library.object.comm_null, MPI_COMM_NULL);
  EXPECT_EQ(library.object.info_null, MPI_INFO_NULL);
  EXPECT_EQ(library.object.errors_return, MPI_ERRORS_RETURN);
  EXPECT_EQ(library.object.byte, MPI_BYTE);
  EXPECT_EQ(library.object.float64, MPI_DOUBLE);
  EXPECT_EQ(library.object.uint16, MPI_UINT16_T);
  EXPECT_EQ(library.object.product, MPI_PROD);
  EXPECT_EQ(library.object.min, MPI_MIN);
}

}  // namespace
}  // namespace horovodx::mpi::open_mpi

#endif
