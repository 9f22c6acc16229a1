#include "horovodx/transport/shm/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "horovodx/base/socket.h"

namespace horovodx::transport::shm {
namespace {

constexpr char kLabel[] = "horovodx";  // shows in /proc/<pid>/maps
constexpr unsigned kNoExecSeal = 0x8;  // MFD_NOEXEC_SEAL, younger than many headers
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

int MakeMemfd() {
  const int fd = ::memfd_create(kLabel, MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal);
  if (fd >= 0 || errno != EINVAL) return fd;
  return ::memfd_create(kLabel, MFD_CLOEXEC | MFD_ALLOW_SEALING);  // Linux before 6.3
}

// What /proc/<pid>/fd/<fd> points to, or empty.
std::string TargetOf(const std::string& path) {
  char target[256];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  if (this != &other) {
    DropName();
    fd_ = std::move(other.fd_);
    name_ = std::exchange(other.name_, {});
  }
  return *this;
}

Result<MemoryFile> MemoryFile::MakeUnnamed(std::size_t bytes) {
  MemoryFile file(MakeMemfd());
  if (!file.fd_.valid()) return FromErrno("memfd_create");
  if (::ftruncate(file.fd(), static_cast<off_t>(bytes)) != 0) {
    return FromErrno("a memfd of " + std::to_string(bytes) + " bytes");
  }
  if (::fcntl(file.fd(), F_ADD_SEALS, kSeals) != 0) return FromErrno("sealing a memfd");
  return file;
}

Result<MemoryFile> MemoryFile::MakeNamed(const std::string& name, std::size_t bytes) {
  MemoryFile file(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.fd_.valid()) return FromErrno("shm_open " + name);
  file.name_ = name;
  if (::ftruncate(file.fd(), static_cast<off_t>(bytes)) != 0) {
    return FromErrno("a file of " + std::to_string(bytes) + " bytes in /dev/shm");
  }
  return file;
}

Result<MemoryFile> MemoryFile::OpenUnnamed(pid_t pid, int fd, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  // Looked at before it is opened: a pid of another machine or another time can be anything here,
  // and opening a device or a pipe is not without effect.
  errno = 0;
  const std::string target = TargetOf(path);
  if (target.empty()) return FromErrno(path);
  if (!std::string_view(target).starts_with(std::string("/memfd:") + kLabel)) {
    return Status::Unknown(path + " is no segment but " + target);
  }
  MemoryFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.fd_.valid()) return FromErrno("opening " + path);
  const int seals = ::fcntl(file.fd(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return Status::Unknown(path + " is not sealed");
  HVDX_RETURN_IF_ERROR(file.CheckSize(bytes));
  return file;
}

Result<MemoryFile> MemoryFile::OpenNamed(const std::string& name, std::size_t bytes) {
  MemoryFile file(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  if (!file.fd_.valid()) return FromErrno("shm_open " + name);
  HVDX_RETURN_IF_ERROR(file.CheckSize(bytes));
  return file;
}

Status MemoryFile::Reserve(std::size_t offset, std::size_t bytes) const {
  int result = 0;
  do {
    result = ::fallocate(fd(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return Status::Ok();
  return FromErrno("reserving " + std::to_string(bytes) + " bytes of shared memory");
}

void MemoryFile::DropName() {
  if (!name_.empty()) ::shm_unlink(name_.c_str());
  name_.clear();
}

Status MemoryFile::CheckSize(std::size_t bytes) const {
  struct stat facts {};
  if (::fstat(fd(), &facts) != 0) return FromErrno("fstat of shared memory");
  if (S_ISREG(facts.st_mode) && static_cast<std::uint64_t>(facts.st_size) == bytes) {
    return Status::Ok();
  }
  return Status::Unknown("shared memory has " + std::to_string(facts.st_size) + " bytes where " +
                         std::to_string(bytes) + " were expected");
}

}  // namespace horovodx::transport::shm
