// horovod_*: the names and meanings that Horovod's Python layer knows.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/api/c_api.h"
#include "horovodx/api/last_error.h"
#include "horovodx/api/process_engine.h"
#include "horovodx/api/slot_table.h"
#include "horovodx/base/log.h"
#include "horovodx/runtime/bootstrap.h"

namespace {

using horovodx::Status;
using horovodx::api::LastError;
using horovodx::api::ProcessEngine;
using horovodx::api::Remember;
using horovodx::mpi::Library;
using horovodx::runtime::Engine;
using horovodx::runtime::Invitation;
using horovodx::runtime::ProcessSets;

// `ask` of the running engine, or `otherwise` if there is none.
template <typename Ask>
int AskEngine(Ask ask, int otherwise = -1) {
  const auto engine = ProcessEngine::Get().engine();
  if (engine == nullptr) {
    LastError() = "Horovod has not been initialized; use hvd.init().";
    return otherwise;
  }
  return ask(*engine);
}

bool Init(std::vector<std::vector<int>> process_sets, const Invitation& invitation) {
  const Status status = ProcessEngine::Get().Init(std::move(process_sets), invitation);
  if (status.ok()) return true;
  HVDX_LOG(kError) << "Horovod initialization failed: " << status.message();
  Remember(status);
  return false;
}

// The id of the set of the ranks that are in `comm`.
int SetOfComm(const Engine& engine, void* comm) {
  Library* library = Library::Loaded();
  const auto& backends = engine.options().backends;
  if (library == nullptr || !backends.mpi || library->call().is_null(comm)) {
    LastError() = "MPI is not in use, or the communicator is MPI_COMM_NULL.";
    return ProcessSets::kUnknownSet;
  }
  const auto ranks = library->RanksIn(comm, backends.comm);
  if (!ranks.ok()) return Remember(ranks.status()), ProcessSets::kUnknownSet;
  for (const int id : engine.process_sets().ids()) {
    if (engine.process_sets().ranks(id) == ranks.value()) return id;
  }
  LastError() = "No process set has the ranks of this communicator.";
  return ProcessSets::kUnknownSet;
}

std::vector<std::vector<int>> CutIntoSets(const int* ranks, const int* sizes, int count) {
  std::vector<std::vector<int>> sets;
  for (int i = 0; i < count; ++i) {
    sets.emplace_back(ranks, ranks + sizes[i]);
    ranks += sizes[i];
  }
  return sets;
}

}  // namespace

extern "C" {

const int HOROVOD_PROCESS_SET_ERROR_INIT = ProcessSets::kNotInitialized;
const int HOROVOD_PROCESS_SET_ERROR_DYNAMIC = ProcessSets::kNotDynamic;
const int HOROVOD_PROCESS_SET_ERROR_UNKNOWN_SET = ProcessSets::kUnknownSet;
const int HOROVOD_PROCESS_SET_ERROR_FOREIGN_SET = ProcessSets::kForeignSet;
const int HOROVOD_PROCESS_SET_ERROR_SHUTDOWN = ProcessSets::kShutDown;
const int HOROVOD_PROCESS_SET_ERROR_EXISTING_SET = ProcessSets::kExistingSet;

bool horovod_init(const int* ranks, int nranks, const int* process_set_ranks,
                  const int* process_set_sizes, int num_process_sets) {
  Invitation invitation;
  if (ranks != nullptr && nranks > 0) invitation.ranks.assign(ranks, ranks + nranks);
  return Init(CutIntoSets(process_set_ranks, process_set_sizes, num_process_sets), invitation);
}

bool horovod_init_multi_comm(void* const* comms, int ncomms, const int* process_set_ranks,
                             const int* process_set_sizes, int num_process_sets) {
  Invitation invitation;
  if (comms != nullptr && ncomms > 0) invitation.comms.assign(comms, comms + ncomms);
  return Init(CutIntoSets(process_set_ranks, process_set_sizes, num_process_sets), invitation);
}

void horovod_shutdown(void) {
  ProcessEngine::Get().Shutdown();
  horovodx::api::SlotTable::Get().Clear();
}

int horovod_is_initialized(void) { return ProcessEngine::Get().engine() != nullptr ? 1 : 0; }

int horovod_start_timeline(const char* file, bool mark_cycles) {
  return AskEngine([&](Engine& e) {
    if (!e.options().timeline_enabled) {
      LastError() = "Set HOROVOD_TIMELINE=DYNAMIC to start a timeline after init.";
      return -2;
    }
    if (e.rank() == 0 && file != nullptr) e.timeline().Start(file, mark_cycles);
    return 1;
  });
}

int horovod_stop_timeline(void) {
  return AskEngine([](Engine& e) {
    e.timeline().Stop();
    return 1;
  });
}

int horovod_rank(void) {
  return AskEngine([](Engine& e) { return e.rank(); });
}
int horovod_local_rank(void) {
  return AskEngine([](Engine& e) { return e.hosts().local_rank(e.rank()); });
}
int horovod_cross_rank(void) {
  return AskEngine([](Engine& e) { return e.hosts().cross_rank(e.rank()); });
}
int horovod_size(void) {
  return AskEngine([](Engine& e) { return e.hosts().size(); });
}
int horovod_local_size(void) {
  return AskEngine([](Engine& e) { return e.hosts().local_size(e.rank()); });
}
int horovod_cross_size(void) {
  return AskEngine([](Engine& e) { return e.hosts().cross_size(e.rank()); });
}
bool horovod_is_homogeneous(void) {
  return AskEngine([](Engine& e) { return e.hosts().homogeneous() ? 1 : 0; }, 0) != 0;
}

const char* hvdx_mpi_library(void) {
  const auto library = horovodx::runtime::LoadMpiFromEnvironment();
  if (library.ok()) return library.value()->text().c_str();
  Remember(library.status());
  return nullptr;
}
void* hvdx_mpi_world(void) {
  const Library* library = Library::Loaded();
  return library == nullptr ? nullptr : library->call().world();
}

int horovod_mpi_threads_supported(void) {
  return AskEngine([](Engine& e) { return e.options().backends.mpi_threads ? 1 : 0; });
}
bool horovod_mpi_enabled(void) {
  return AskEngine([](Engine& e) { return e.options().backends.mpi ? 1 : 0; }, 0) != 0;
}
// Whether MPI could be used: what was built does not depend on it.
bool horovod_mpi_built(void) { return hvdx_mpi_library() != nullptr; }
// "gloo" is what Horovod calls the transport that needs no MPI: here our own TCP and shared memory.
bool horovod_gloo_enabled(void) {
  return AskEngine([](Engine& e) { return e.options().backends.gloo ? 1 : 0; }, 1) != 0;
}
bool horovod_gloo_built(void) { return true; }
int horovod_nccl_built(void) { return 0; }
bool horovod_ddl_built(void) { return false; }
bool horovod_ccl_built(void) { return false; }
bool horovod_cuda_built(void) { return false; }
bool horovod_rocm_built(void) { return false; }

int horovod_reduce_op_average(void) { return HVDX_AVERAGE; }
int horovod_reduce_op_sum(void) { return HVDX_SUM; }
int horovod_reduce_op_adasum(void) { return HVDX_ADASUM; }
int horovod_reduce_op_min(void) { return HVDX_MIN; }
int horovod_reduce_op_max(void) { return HVDX_MAX; }
int horovod_reduce_op_product(void) { return HVDX_PRODUCT; }

int horovod_add_process_set(const int* ranks, int nranks) {
  return AskEngine([&](Engine& e) {
    return e.AddProcessSet(std::vector<int>(ranks, ranks + nranks), LastError());
  });
}
int horovod_remove_process_set(int id) {
  return AskEngine([&](Engine& e) { return e.RemoveProcessSet(id, LastError()); });
}
int horovod_comm_process_set(void* comm) {
  return AskEngine([&](Engine& e) { return SetOfComm(e, comm); });
}
int horovod_process_set_rank(int id) {
  return AskEngine([&](Engine& e) { return e.process_sets().RankIn(id, e.rank()); });
}
int horovod_process_set_size(int id) {
  return AskEngine([&](Engine& e) { return e.process_sets().SizeOf(id); });
}
int horovod_process_set_included(int id) {
  return AskEngine([&](Engine& e) { return e.process_sets().Includes(id, e.rank()); });
}
int horovod_number_of_process_sets(void) {
  return AskEngine([](Engine& e) { return static_cast<int>(e.process_sets().ids().size()); });
}
void horovod_process_set_ids(int* ids) {
  AskEngine([&](Engine& e) {
    const auto all = e.process_sets().ids();
    std::copy(all.begin(), all.end(), ids);
    return 0;
  });
}
int horovod_process_set_ranks(int id, int* ranks) {
  return AskEngine([&](Engine& e) {
    const auto members = e.process_sets().ranks(id);
    std::copy(members.begin(), members.end(), ranks);
    return members.empty() ? ProcessSets::kUnknownSet : 0;
  });
}

}  // extern "C"
