// Memory with a descriptor: how processes come to map the same pages.
//
// Two kinds. A memfd has no name: others reach it as /proc/<pid>/fd/<fd> while its maker keeps it
// open, and it is gone with its last user, however that ended. Where /proc does not allow that, a
// file in /dev/shm with an unguessable name serves; its maker removes the name as soon as all have
// opened it (destructor, or DropName).
//
// Thread: any.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>

#include "horovodx/base/fd.h"
#include "horovodx/base/status.h"

namespace horovodx::transport::shm {

class MemoryFile {
 public:
  MemoryFile() = default;
  MemoryFile(MemoryFile&& other) noexcept
      : fd_(std::move(other.fd_)), name_(std::exchange(other.name_, {})) {}
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile() { DropName(); }

  // `bytes` long and never another length (sealed). No page exists until it is reserved or touched.
  static Result<MemoryFile> MakeUnnamed(std::size_t bytes);
  // `name` as for shm_open; must be new. Readable by this user only.
  static Result<MemoryFile> MakeNamed(const std::string& name, std::size_t bytes);
  // Another process's unnamed file. Whatever else the pid and descriptor now mean is refused.
  static Result<MemoryFile> OpenUnnamed(pid_t pid, int fd, std::size_t bytes);
  static Result<MemoryFile> OpenNamed(const std::string& name, std::size_t bytes);

  int fd() const { return fd_.get(); }
  // Makes sure that these pages exist: touching them later cannot fail, lack of memory shows here.
  Status Reserve(std::size_t offset, std::size_t bytes) const;
  void DropName();

 private:
  explicit MemoryFile(int fd) : fd_(fd) {}
  Status CheckSize(std::size_t bytes) const;

  Fd fd_;
  std::string name_;  // to be removed; empty on those who only opened it
};

}  // namespace horovodx::transport::shm
