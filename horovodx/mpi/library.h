// Library: MPI in this process, once it is wanted: libhorovodx_mpi.so opened, libmpi found.
//
// There is one MPI a process, started once and ended once. Whoever started it ends it: if that was
// us, when the process exits, so that hvd.init() may follow hvd.shutdown(). After a failure MPI is
// not ended at all, since its end waits for all ranks.
//
// Thread: any.
#pragma once

#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/mpi/abi.h"

namespace horovodx::mpi {

struct LibraryOptions {
  std::string plugin;  // libhorovodx_mpi.so; empty: the one beside this code
  std::string given;   // the libmpi to use; empty: what `prefix` and the system have
  std::string prefix;  // where the launcher's Open MPI is installed; empty: not known
};

class Library {
 public:
  // Opens it, or says what there is instead. Does not start MPI. Once it has been opened, the
  // options count no more.
  static Result<Library*> Load(const LibraryOptions& options);
  // Null if nobody has loaded it.
  static Library* Loaded();

  const Functions& call() const { return *functions_; }
  // "Open MPI v4.1.4, ... (/usr/lib/x86_64-linux-gnu/libmpi.so.40)".
  const std::string& text() const { return text_; }
  // What an error code of `call` means; `what` was tried.
  Status Check(int error, const std::string& what) const;

  // What the members of `of` are called in `in`, ascending; an error if one is not there.
  Result<std::vector<int>> RanksIn(Comm of, Comm in) const;

  // Starts MPI if nobody has. Returns what it allows threads. MPI waits for all its processes and
  // knows no time limit: at the deadline it is left alone with that, in a thread of its own; a
  // later call goes on waiting. Because of that thread at least kSerialized is asked for: with less
  // the thread that starts MPI would have to make all calls.
  Result<Threads> Start(Threads wanted, const Deadline& deadline);
  // A rank is gone: MPI's end would wait for it. Until a job has come together again.
  void LeaveUnfinished(bool leave);
  bool unfinished() const;

 private:
  Library(const Functions* functions, std::string text)
      : functions_(functions), text_(std::move(text)) {}
  static Result<Library*> Open(const LibraryOptions& options);
  Status StartInTime(Threads wanted, const Deadline& deadline);

  const Functions* functions_;
  std::string text_;
};

}  // namespace horovodx::mpi
