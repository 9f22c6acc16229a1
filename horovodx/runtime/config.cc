#include "horovodx/runtime/config.h"

#include <algorithm>

#include "horovodx/runtime/variables.h"

namespace horovodx::runtime {
namespace {

std::string Trimmed(const std::string& text) {
  const char* const kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string Complaint(const Variable& variable, const std::string& text) {
  const std::string value =
      variable.garbage == Garbage::kRefuseQuiet ? "set, but not" : "'" + text + "'; expected";
  return std::string(variable.name) + " is " + value + " " + variable.setting.expected;
}

// Complaints wait until the log level is known.
struct Complaints {
  std::vector<std::string> warnings;
  std::vector<std::string> errors;

  void Log(LogLevel level) const {
    if (level > LogLevel::kError) return;
    for (const auto& text : errors) HVDX_LOG(kError) << text;
    if (level > LogLevel::kWarning) return;
    for (const auto& text : warnings) HVDX_LOG(kWarning) << text;
  }
};

Status Read(const Variable& variable, const std::string& text, Config& config,
            Complaints& complaints) {
  if (variable.setting.set(config, text)) {
    config.given.insert(variable.name);
    return Status::Ok();
  }
  const std::string complaint = Complaint(variable, text);
  if (variable.garbage == Garbage::kWarn) {
    complaints.warnings.push_back(complaint + "; using " + variable.default_value);
  } else if (variable.garbage == Garbage::kError) {
    complaints.errors.push_back(complaint + "; using " + variable.default_value);
  } else {
    return Status::InvalidArgument(complaint);
  }
  return Status::Ok();
}

Status CheckBelow(const char* rank_name, const char* size_name, int rank, int size) {
  if (rank < size) return Status::Ok();
  return Status::InvalidArgument(std::string(rank_name) + " is '" + std::to_string(rank) +
                                 "'; expected less than " + size_name + ", which is " +
                                 std::to_string(size));
}

Status CheckSmaller(const char* name, const std::optional<int>& part, int size) {
  if (!part || *part <= size) return Status::Ok();
  return Status::InvalidArgument(std::string(name) + " is '" + std::to_string(*part) +
                                 "'; expected at most HOROVOD_SIZE, which is " +
                                 std::to_string(size));
}

Status CheckTopology(const Config& config) {
  HVDX_RETURN_IF_ERROR(CheckBelow("HOROVOD_RANK", "HOROVOD_SIZE", config.rank, config.size));
  if (config.size > 1 && config.given.count("HOROVOD_RANK") == 0 && config.controller != "mpi") {
    // Every process would be rank 0, and the job would never come together.
    return Status::InvalidArgument("HOROVOD_SIZE is '" + std::to_string(config.size) +
                                   "' but HOROVOD_RANK is not set; expected the number of this "
                                   "process, from 0 to " +
                                   std::to_string(config.size - 1));
  }
  if (config.local_rank && config.local_size) {
    HVDX_RETURN_IF_ERROR(CheckBelow("HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE", *config.local_rank,
                                    *config.local_size));
  }
  if (config.cross_rank && config.cross_size) {
    HVDX_RETURN_IF_ERROR(CheckBelow("HOROVOD_CROSS_RANK", "HOROVOD_CROSS_SIZE", *config.cross_rank,
                                    *config.cross_size));
  }
  HVDX_RETURN_IF_ERROR(CheckSmaller("HOROVOD_LOCAL_SIZE", config.local_size, config.size));
  return CheckSmaller("HOROVOD_CROSS_SIZE", config.cross_size, config.size);
}

Status CheckRendezvous(const Config& config) {
  if (!config.rendezvous_address.empty() && config.rendezvous_port < 0) {
    return Status::InvalidArgument("HOROVOD_GLOO_RENDEZVOUS_ADDR is '" + config.rendezvous_address +
                                   "' but HOROVOD_GLOO_RENDEZVOUS_PORT is not set");
  }
  if (config.size > 1 && config.rendezvous_address.empty() && config.controller != "mpi") {
    return Status::InvalidArgument("HOROVOD_SIZE is '" + std::to_string(config.size) +
                                   "' but HOROVOD_GLOO_RENDEZVOUS_ADDR is not set: the processes "
                                   "cannot find each other; expected the address of the store");
  }
  return Status::Ok();
}

void CheckStallTimes(Config& config, Complaints& complaints) {
  if (config.stall_shutdown == Duration::zero() || config.stall_shutdown >= config.stall_warning) {
    return;
  }
  complaints.warnings.emplace_back(
      "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS is less than HOROVOD_STALL_CHECK_TIME_SECONDS; expected "
      "at least as much, so stalled tensors will not shut the job down");
  config.stall_shutdown = Duration::zero();
}

}  // namespace

Result<Config> ReadConfig(const std::function<const char*(const char*)>& getenv) {
  Config config;
  Complaints complaints;
  for (const auto& variable : Variables()) {
    const char* value = getenv(variable.name);
    const std::string text = value == nullptr ? "" : Trimmed(value);
    if (!text.empty()) HVDX_RETURN_IF_ERROR(Read(variable, text, config, complaints));
  }
  HVDX_RETURN_IF_ERROR(CheckTopology(config));
  HVDX_RETURN_IF_ERROR(CheckRendezvous(config));
  CheckStallTimes(config, complaints);
  complaints.Log(config.log.level);
  return config;
}

std::optional<int> PinnedCore(const Config& config, int local_rank, int local_size) {
  if (config.cores.empty()) return std::nullopt;
  if (static_cast<int>(config.cores.size()) < local_size) {
    HVDX_LOG_RANK(kError, config.rank)
        << "HOROVOD_THREAD_AFFINITY names " << config.cores.size() << " cores; expected at least "
        << local_size << ", one for each process of this host; no thread is pinned";
    return std::nullopt;
  }
  return config.cores[static_cast<std::size_t>(local_rank)];
}

int StreamsToOpen(const Config& config) {
  constexpr int kToChooseFrom = 4;
  const bool tuned = config.autotune && config.given.count("HOROVODX_STREAMS") == 0;
  return tuned ? std::max(config.streams, kToChooseFrom) : config.streams;
}

std::vector<VariableDescription> Describe() {
  std::vector<VariableDescription> all;
  for (const auto& variable : Variables()) {
    all.push_back({variable.name, variable.default_value, variable.meaning});
  }
  return all;
}

}  // namespace horovodx::runtime
