// libhorovodx_mpi.so: abi.h over Open MPI.
#include <cstdio>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "horovodx/mpi/abi.h"
#include "horovodx/mpi/open_mpi.h"

namespace horovodx::mpi {
namespace {

open_mpi::Library& The() {
  static auto* library = new open_mpi::Library;  // MPI is there until the process ends
  return *library;
}
const open_mpi::Calls& Call() { return The().call; }
const open_mpi::Objects& Object() { return The().object; }

// The first that fails.
#define HVDX_MPI_TRY(expression)                                                   \
  do {                                                                             \
    if (const int tried = (expression); tried != open_mpi::kSuccess) return tried; \
  } while (false)

void CopyText(const std::string& from, char* to, std::size_t capacity) {
  std::snprintf(to, capacity, "%s", from.c_str());
}

bool Open(const char* const* names, char* text, std::size_t capacity) {
  const bool opened = open_mpi::Open(names, The());
  CopyText(The().text, text, capacity);
  return opened;
}

void ErrorText(int error, char* text, std::size_t capacity) {
  char words[open_mpi::kLongestText] = {};
  int length = 0;
  if (Call().Error_string(error, words, &length) != open_mpi::kSuccess) {
    CopyText("MPI error " + std::to_string(error), text, capacity);
  } else {
    CopyText(words, text, capacity);
  }
}

bool Started() {
  int flag = 0;
  return Call().Initialized(&flag) == open_mpi::kSuccess && flag != 0;
}
bool Finished() {
  int flag = 0;
  return Call().Finalized(&flag) == open_mpi::kSuccess && flag != 0;
}
int Start(int threads_wanted) {
  int provided = 0;
  HVDX_MPI_TRY(Call().Init_thread(nullptr, nullptr, threads_wanted, &provided));
  // Nobody else has started MPI, so nobody counts on errors ending the process.
  return Call().Comm_set_errhandler(Object().comm_world, Object().errors_return);
}
int ThreadLevel(int* level) { return Call().Query_thread(level); }
int Finish() { return Call().Finalize(); }

Comm World() { return Object().comm_world; }
bool IsNull(Comm comm) { return comm == nullptr || comm == Object().comm_null; }
int RankIn(Comm comm, int* rank) { return Call().Comm_rank(comm, rank); }
int SizeOf(Comm comm, int* size) { return Call().Comm_size(comm, size); }

int HostName(char* name, std::size_t capacity) {
  char words[open_mpi::kLongestText] = {};
  int length = 0;
  HVDX_MPI_TRY(Call().Get_processor_name(words, &length));
  CopyText(words, name, capacity);
  return open_mpi::kSuccess;
}

int FirstOnHost(Comm comm, int* rank) {
  Comm here = nullptr;
  HVDX_MPI_TRY(Call().Comm_rank(comm, rank));
  HVDX_MPI_TRY(
      Call().Comm_split_type(comm, open_mpi::kSharedMemory, *rank, Object().info_null, &here));
  const int error = Call().Bcast(rank, 1, Object().integer, 0, here);
  HVDX_MPI_TRY(Call().Comm_free(&here));
  return error;
}

int RanksIn(Comm of, Comm in, int* ranks) {
  int size = 0;
  HVDX_MPI_TRY(Call().Comm_size(of, &size));
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  Comm from = nullptr;
  Comm to = nullptr;
  HVDX_MPI_TRY(Call().Comm_group(of, &from));
  HVDX_MPI_TRY(Call().Comm_group(in, &to));
  const int error = Call().Group_translate_ranks(from, size, numbers.data(), to, ranks);
  HVDX_MPI_TRY(Call().Group_free(&from));
  HVDX_MPI_TRY(Call().Group_free(&to));
  for (int i = 0; i < size; ++i) ranks[i] = ranks[i] == open_mpi::kUndefined ? -1 : ranks[i];
  return error;
}

int Duplicate(Comm comm, Comm* own) {
  HVDX_MPI_TRY(Call().Comm_dup(comm, own));
  return Call().Comm_set_errhandler(*own, Object().errors_return);
}

int Among(Comm comm, const int* ranks, int count, int tag, Comm* own) {
  Comm all = nullptr;
  Comm some = nullptr;
  HVDX_MPI_TRY(Call().Comm_group(comm, &all));
  int error = Call().Group_incl(all, count, ranks, &some);
  if (error == open_mpi::kSuccess) {
    error = Call().Comm_create_group(comm, some, tag, own);
    HVDX_MPI_TRY(Call().Group_free(&some));
  }
  HVDX_MPI_TRY(Call().Group_free(&all));
  HVDX_MPI_TRY(error);
  return Call().Comm_set_errhandler(*own, Object().errors_return);
}

int Release(Comm* own) { return Call().Comm_free(own); }

int Send(const void* data, int bytes, int to, int tag, Comm comm, Request* request) {
  return Call().Issend(data, bytes, Object().byte, to, tag, comm, request);
}
int Receive(void* data, int bytes, int from, int tag, Comm comm, Request* request) {
  return Call().Irecv(data, bytes, Object().byte, from, tag, comm, request);
}

int Test(Request* request, bool* done, int* bytes) {
  int flag = 0;
  open_mpi::Status status{};
  HVDX_MPI_TRY(Call().Test(request, &flag, &status));
  *done = flag != 0;
  if (!*done || bytes == nullptr) return open_mpi::kSuccess;
  return Call().Get_count(&status, Object().byte, bytes);
}

int Cancel(Request* request, bool* gone) {
  HVDX_MPI_TRY(Call().Cancel(request));
  HVDX_MPI_TRY(Test(request, gone, nullptr));
  return *gone ? open_mpi::kSuccess : Call().Request_free(request);
}

void* TypeOf(int type) {
  const auto& o = Object();
  void* const types[] = {o.int8,  o.uint8, o.int16,   o.uint16,
                         o.int32, o.int64, o.float32, o.float64};
  return types[type];
}
void* OpOf(int op) {
  const auto& o = Object();
  void* const ops[] = {o.sum, o.min, o.max, o.product};
  return ops[op];
}

int Allreduce(void* data, int count, int type, int op, Comm comm, Request* request) {
  return Call().Iallreduce(open_mpi::kInPlace, data, count, TypeOf(type), OpOf(op), comm, request);
}

#undef HVDX_MPI_TRY

}  // namespace
}  // namespace horovodx::mpi

extern "C" __attribute__((visibility("default"))) const horovodx::mpi::Functions*
hvdx_mpi_functions() {
  using namespace horovodx::mpi;
  static constexpr Functions kFunctions = {
      kAbiVersion, Open,    ErrorText, Started, Finished, Start,       ThreadLevel, Finish,
      World,       IsNull,  RankIn,    SizeOf,  HostName, FirstOnHost, RanksIn,     Duplicate,
      Among,       Release, Send,      Receive, Test,     Cancel,      Allreduce};
  return &kFunctions;
}
