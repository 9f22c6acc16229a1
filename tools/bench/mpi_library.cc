// libhvdx_bench_mpi.so: the one file that includes mpi.h.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <climits>
#include <cstddef>

#include "horovodx/api/c_api.h"
#include "tools/bench/mpi.h"

namespace horovodx::bench {
namespace {

MPI_Datatype TypeOf(int type) {
  switch (type) {
    case HVDX_FLOAT32:
      return MPI_FLOAT;
    case HVDX_FLOAT64:
      return MPI_DOUBLE;
    case HVDX_INT8:
      return MPI_INT8_T;
    case HVDX_UINT8:
      return MPI_UINT8_T;
    case HVDX_INT32:
      return MPI_INT32_T;
    case HVDX_INT64:
      return MPI_INT64_T;
    default:
      return MPI_DATATYPE_NULL;
  }
}

bool Start() { return MPI_Init(nullptr, nullptr) == MPI_SUCCESS; }
void Finish() { MPI_Finalize(); }
bool HasType(int type) { return TypeOf(type) != MPI_DATATYPE_NULL; }

bool Sum(const void* input, void* output, std::size_t elements, int type) {
  if (elements > INT_MAX) return false;
  return MPI_Allreduce(input, output, static_cast<int>(elements), TypeOf(type), MPI_SUM,
                       MPI_COMM_WORLD) == MPI_SUCCESS;
}

}  // namespace
}  // namespace horovodx::bench

extern "C" __attribute__((visibility("default"))) const horovodx::bench::MpiFunctions*
hvdx_bench_mpi() {
  using namespace horovodx::bench;
  static const MpiFunctions functions = {Start, Finish, HasType, Sum};
  return &functions;
}
