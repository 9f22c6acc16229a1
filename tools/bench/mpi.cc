#include "tools/bench/mpi.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>

#include "horovodx/api/c_api.h"
#include "tools/bench/engine.h"

namespace horovodx::bench {
namespace {

std::string LibraryPath() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  const std::string program(path, length < 0 ? 0 : static_cast<std::size_t>(length));
  return program.substr(0, program.rfind('/') + 1) + "libhvdx_bench_mpi.so";
}

}  // namespace

bool Mpi::Built() { return ::access(LibraryPath().c_str(), R_OK) == 0; }

std::unique_ptr<Mpi> Mpi::Load(std::string& why) {
  // Global: MPI's own plugins expect to find its symbols.
  void* library = ::dlopen(LibraryPath().c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* entry = library == nullptr ? nullptr : ::dlsym(library, "hvdx_bench_mpi");
  if (entry == nullptr) {
    why = ::dlerror();
    return nullptr;
  }
  const MpiFunctions* functions = reinterpret_cast<const MpiFunctions* (*)()>(entry)();
  if (!functions->start()) {
    why = "MPI_Init failed";
    return nullptr;
  }
  return std::unique_ptr<Mpi>(new Mpi(*functions));
}

Mpi::~Mpi() { functions_.finish(); }

void Mpi::Allreduce(int type, std::size_t elements, const void* input, void* output) {
  if (!functions_.sum(input, output, elements, type)) Fail("MPI_Allreduce failed");
}

void Mpi::Meet() {
  const float one = 1;
  float sum = 0;
  Allreduce(HVDX_FLOAT32, 1, &one, &sum);
}

}  // namespace horovodx::bench
