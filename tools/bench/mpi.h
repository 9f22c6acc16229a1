// Mpi: MPI_Allreduce to compare with, from libhvdx_bench_mpi.so beside this program. Only that
// library is linked with MPI, so hvdx-bench runs where there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace horovodx::bench {

// The functions of the library; mpi_library.cc implements them.
struct MpiFunctions {
  bool (*start)();
  void (*finish)();
  // False for a type that MPI has not.
  bool (*has_type)(int type);
  bool (*sum)(const void* input, void* output, std::size_t elements, int type);
};

class Mpi {
 public:
  // Null, and why, if the library is not there or cannot be loaded.
  static std::unique_ptr<Mpi> Load(std::string& why);
  // Whether Load would find a library: this build had MPI.
  static bool Built();
  ~Mpi();

  bool HasType(int type) const { return functions_.has_type(type); }
  void Allreduce(int type, std::size_t elements, const void* input, void* output);
  void Meet();

 private:
  explicit Mpi(const MpiFunctions& functions) : functions_(functions) {}
  MpiFunctions functions_;
};

}  // namespace horovodx::bench
