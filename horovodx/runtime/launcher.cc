#include "horovodx/runtime/launcher.h"

#include "horovodx/runtime/setting.h"

namespace horovodx::runtime {
namespace {

// The variables by which launchers tell ranks; the first that does is believed.
struct Tells {
  const char* rank;
  const char* size;
  const char* local_size;  // or null
};
constexpr Tells kTells[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", nullptr},
    // The step's number of tasks: the job's is also told to a script that runs once.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr},
};

}  // namespace

std::string Launcher::ToString() const {
  return rank_name + " says rank " + std::to_string(rank) +
         (size ? " of " + std::to_string(*size) : "");
}

Launcher FindLauncher(const std::function<const char*(const char*)>& getenv) {
  const auto number = [&](const char* name) -> std::optional<int> {
    const char* text = name == nullptr ? nullptr : getenv(name);
    const auto value = ParseInteger(text == nullptr ? "" : text);
    if (!value || *value < 0 || *value > 1'000'000'000) return std::nullopt;
    return static_cast<int>(*value);
  };
  Launcher found;
  for (const Tells& tells : kTells) {
    const auto rank = number(tells.rank);
    const auto size = number(tells.size);
    const bool alone = std::string(tells.rank) != "PMIX_RANK";  // means nothing without a size
    if (!rank || (alone && !size)) continue;
    found.rank_name = tells.rank;
    found.rank = *rank;
    found.size = size;
    found.local_size = number(tells.local_size);
    break;
  }
  if (const char* prefix = getenv("OPAL_PREFIX"); prefix != nullptr) found.prefix = prefix;
  return found;
}

}  // namespace horovodx::runtime
