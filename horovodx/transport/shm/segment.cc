#include "horovodx/transport/shm/segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <new>
#include <sstream>
#include <utility>

#include "horovodx/base/bytes.h"
#include "horovodx/base/random.h"
#include "horovodx/base/socket.h"

namespace horovodx::transport::shm {
namespace {

constexpr std::uint64_t kMagic = 0x3147455358445648;  // "HVDXSEG1"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 4096;

std::size_t SegmentBytes(const Shape& shape) {
  return kHeaderBytes + std::size_t{shape.members} * shape.block_bytes;
}

std::string Hex(const std::array<std::uint64_t, 2>& token) {
  char text[33];
  std::snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, token[0], token[1]);
  return text;
}

}  // namespace

const char* NameOf(Kind kind) { return kind == Kind::kUnnamed ? "memfd" : "/dev/shm"; }

struct Segment::Header {
  std::uint64_t magic;
  std::uint32_t version;
  Shape shape;
  Token token;
};

Segment::Segment(std::byte* memory, const Shape& shape, MemoryFile file)
    : memory_(memory), shape_(shape), file_(std::move(file)) {}

Segment::Segment(Segment&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      shape_(other.shape_),
      file_(std::move(other.file_)),
      ticket_(std::move(other.ticket_)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(shape_, other.shape_);
  std::swap(file_, other.file_);
  std::swap(ticket_, other.ticket_);
  return *this;
}

Segment::~Segment() {
  if (memory_ != nullptr) ::munmap(memory_, SegmentBytes(shape_));
}

Segment::Header& Segment::header() const { return *reinterpret_cast<Header*>(memory_); }

std::byte* Segment::block(int member) const {
  return memory_ + kHeaderBytes + static_cast<std::size_t>(member) * shape_.block_bytes;
}

Result<Segment> Segment::Make(Kind kind, const Shape& shape) {
  // The token proves that who opens this has found this; the name must not be guessed either.
  Token secrets[2];
  HVDX_RETURN_IF_ERROR(FillRandom(MutableBytesOf(secrets, sizeof(secrets))));
  const auto& [token, nonce] = secrets;
  const std::string name = "/hvdx-" + std::to_string(::getpid()) + "-" + Hex(nonce);
  HVDX_ASSIGN_OR_RETURN(MemoryFile file, kind == Kind::kUnnamed
                                             ? MemoryFile::MakeUnnamed(SegmentBytes(shape))
                                             : MemoryFile::MakeNamed(name, SegmentBytes(shape)));
  std::ostringstream ticket;
  ticket << NameOf(kind) << ' ' << ::getpid() << ' ' << file.fd() << ' ' << name << ' ' << std::hex
         << token[0] << ' ' << token[1];
  HVDX_RETURN_IF_ERROR(file.Reserve(0, kHeaderBytes));
  HVDX_ASSIGN_OR_RETURN(Segment segment, Map(std::move(file), shape));
  HVDX_RETURN_IF_ERROR(segment.Reserve(0));
  new (segment.memory_) Header{kMagic, kVersion, shape, token};
  segment.ticket_ = ticket.str();
  return segment;
}

Result<Segment> Segment::Open(const std::string& ticket, const Shape& shape, int member) {
  std::istringstream parts(ticket);
  std::string kind, name;
  pid_t pid = 0;
  int fd = -1;
  Token token{};
  parts >> kind >> pid >> fd >> name >> std::hex >> token[0] >> token[1];
  if (!parts) return Status::Unknown("not a ticket to a segment: '" + ticket + "'");
  HVDX_ASSIGN_OR_RETURN(MemoryFile file, kind == NameOf(Kind::kUnnamed)
                                             ? MemoryFile::OpenUnnamed(pid, fd, SegmentBytes(shape))
                                             : MemoryFile::OpenNamed(name, SegmentBytes(shape)));
  HVDX_ASSIGN_OR_RETURN(Segment segment, Map(std::move(file), shape));
  HVDX_RETURN_IF_ERROR(segment.Check(shape, token));
  HVDX_RETURN_IF_ERROR(segment.Reserve(member));
  segment.CloseDoor();
  return segment;
}

Result<Segment> Segment::MakePrivate(const Shape& shape) {
  void* memory = ::mmap(nullptr, SegmentBytes(shape), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return FromErrno("mapping " + std::to_string(SegmentBytes(shape)) + " bytes");
  return Segment(static_cast<std::byte*>(memory), shape, MemoryFile());
}

Result<Segment> Segment::Map(MemoryFile file, const Shape& shape) {
  void* memory =
      ::mmap(nullptr, SegmentBytes(shape), PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (memory == MAP_FAILED) return FromErrno("mapping shared memory");
  return Segment(static_cast<std::byte*>(memory), shape, std::move(file));
}

Status Segment::Reserve(int member) const {
  return file_.Reserve(static_cast<std::size_t>(block(member) - memory_), shape_.block_bytes);
}

Status Segment::Check(const Shape& shape, const Token& token) const {
  const Header& found = header();
  if (found.magic != kMagic || found.token != token) {
    return Status::Unknown("found another segment than the one made for this job");
  }
  if (found.version != kVersion) {
    return Status::Unknown("segment of layout version " + std::to_string(found.version) +
                           ", expected " + std::to_string(kVersion));
  }
  if (!(found.shape == shape)) {
    return Status::Unknown("segment for " + std::to_string(found.shape.members) + " members of " +
                           std::to_string(found.shape.block_bytes) + " bytes, expected " +
                           std::to_string(shape.members) + " of " +
                           std::to_string(shape.block_bytes));
  }
  return Status::Ok();
}

}  // namespace horovodx::transport::shm
