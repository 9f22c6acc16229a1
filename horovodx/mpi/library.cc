#include "horovodx/mpi/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "horovodx/base/log.h"
#include "horovodx/base/mutex.h"

namespace horovodx::mpi {
namespace {

constexpr char kSoname[] = "libmpi.so.40";  // of Open MPI 4 and 5

Mutex& Opening() {
  static auto* mutex = new Mutex;
  return *mutex;
}
std::atomic<Library*>& TheLibrary() {
  static std::atomic<Library*> library{nullptr};
  return library;
}
std::atomic<bool>& Unfinished() {
  static std::atomic<bool> unfinished{false};
  return unfinished;
}
std::atomic<pid_t>& Starter() {
  static std::atomic<pid_t> starter{0};
  return starter;
}

constexpr Duration kBetweenWarnings = std::chrono::seconds(30);

// MPI_Init, which may outlive the call that began it.
struct StartUnderWay {
  Mutex mutex;
  CondVar changed;
  bool begun HVDX_GUARDED_BY(mutex) = false;
  bool done HVDX_GUARDED_BY(mutex) = false;
  int error HVDX_GUARDED_BY(mutex) = 0;
};
StartUnderWay& TheStart() {
  static auto* start = new StartUnderWay;
  return *start;
}

std::string OwnDirectory() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&OwnDirectory), &info) == 0) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

// Where libmpi may be, the likeliest first. What is in the process already is the only right one.
std::vector<std::string> NamesFor(const LibraryOptions& options) {
  if (!options.given.empty()) return {options.given};
  if (void* there = ::dlopen(kSoname, RTLD_LAZY | RTLD_NOLOAD); there != nullptr) {
    ::dlclose(there);
    return {kSoname};
  }
  std::vector<std::string> names;
  if (!options.prefix.empty()) names.push_back(options.prefix + "/lib/" + kSoname);
  names.emplace_back(kSoname);
  // Beside Python, where a package has put it: <prefix>/lib/pythonX/site-packages/horovodx/.
  names.push_back(OwnDirectory() + "../../../" + kSoname);
  names.emplace_back("libmpi.so.12");  // MPICH's, to say that it is that
  return names;
}

// In the process that started MPI, not in one forked off it.
void FinishAtExit() {
  const Library* library = Library::Loaded();
  if (library == nullptr || Starter() != ::getpid() || Unfinished()) return;
  if (!library->call().finished()) library->call().finish();
}

}  // namespace

Library* Library::Loaded() { return TheLibrary().load(std::memory_order_acquire); }

Result<Library*> Library::Load(const LibraryOptions& options) {
  MutexLock lock(Opening());
  if (Library* library = Loaded(); library != nullptr) return library;
  HVDX_ASSIGN_OR_RETURN(Library * library, Open(options));
  TheLibrary().store(library, std::memory_order_release);
  return library;
}

Result<Library*> Library::Open(const LibraryOptions& options) {
  const std::string plugin =
      options.plugin.empty() ? OwnDirectory() + "libhorovodx_mpi.so" : options.plugin;
  void* file = ::dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* entry = file == nullptr ? nullptr : ::dlsym(file, kEntryPoint);
  if (entry == nullptr) {
    const char* why = ::dlerror();
    return Status::InvalidArgument(std::string("MPI cannot be used: ") +
                                   (why != nullptr ? why : plugin + " has no entry point"));
  }
  const Functions* functions = reinterpret_cast<EntryPoint>(entry)();
  if (functions->version != kAbiVersion) {
    return Status::InvalidArgument("MPI cannot be used: " + plugin + " is of another version");
  }
  const std::vector<std::string> names = NamesFor(options);
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  pointers.push_back(nullptr);
  char text[4096] = {};
  if (!functions->open(pointers.data(), text, sizeof(text))) {
    return Status::InvalidArgument(std::string("MPI cannot be used: ") + text);
  }
  return new Library(functions, text);  // for good, as MPI itself
}

Status Library::Check(int error, const std::string& what) const {
  if (error == 0) return Status::Ok();
  char text[256] = {};
  functions_->error_text(error, text, sizeof(text));
  return Status::Unknown("MPI: " + what + " failed: " + text);
}

Result<std::vector<int>> Library::RanksIn(Comm of, Comm in) const {
  int size = 0;
  HVDX_RETURN_IF_ERROR(Check(functions_->size(of, &size), "MPI_Comm_size"));
  std::vector<int> ranks(static_cast<std::size_t>(size));
  HVDX_RETURN_IF_ERROR(
      Check(functions_->ranks_in(of, in, ranks.data()), "MPI_Group_translate_ranks"));
  std::sort(ranks.begin(), ranks.end());
  if (!ranks.empty() && ranks.front() >= 0) return ranks;
  return Status::InvalidArgument(
      "a process set's communicator has members that are not in the communicator of the job");
}

Status Library::StartInTime(Threads wanted, const Deadline& deadline) {
  StartUnderWay& start = TheStart();
  MutexLock lock(start.mutex);
  if (!start.begun) {
    start.begun = true;
    std::thread([&start, function = functions_->start, wanted] {
      const int error = function(static_cast<int>(wanted));
      MutexLock in_thread(start.mutex);
      start.error = error;
      start.done = true;
      start.changed.NotifyAll();
    }).detach();
  }
  const TimePoint begin = Clock::now();
  const auto waited = [&] { return std::to_string(std::lround(ToSeconds(Clock::now() - begin))); };
  while (!start.done) {
    if (deadline.Passed()) {
      Unfinished() = true;
      return Status::Unknown(
          "MPI_Init has not come back within " + waited() +
          " s: it waits until every process that was started by MPI calls it, and one does not, or "
          "cannot be reached. MPI does not say which; look for a process that hangs before init()");
    }
    const Duration left = std::min<Duration>(deadline.Left(), kBetweenWarnings);
    start.changed.WaitUntil(start.mutex, Clock::now() + left);
    if (!start.done && !deadline.Passed()) {
      HVDX_LOG(kWarning) << "MPI_Init waits for other processes since " << waited() << " s";
    }
  }
  return Check(start.error, "MPI_Init_thread");
}

Result<Threads> Library::Start(Threads wanted, const Deadline& deadline) {
  if (functions_->finished()) {
    return Status::Precondition(
        "MPI has been finalized in this process and cannot be started again; call hvd.init() "
        "before MPI_Finalize");
  }
  if (!functions_->started()) {
    HVDX_RETURN_IF_ERROR(StartInTime(std::max(wanted, Threads::kSerialized), deadline));
    Starter() = ::getpid();
    std::atexit(FinishAtExit);
  }
  int level = 0;
  HVDX_RETURN_IF_ERROR(Check(functions_->threads(&level), "MPI_Query_thread"));
  return static_cast<Threads>(level);
}

void Library::LeaveUnfinished(bool leave) { Unfinished() = leave; }
bool Library::unfinished() const { return Unfinished(); }

}  // namespace horovodx::mpi
