// Segment: pages that the members of one host share: a header, then a block for each member.
//
// Fresh blocks are all zeros. A member reserves its own block when it enters, so a host short of
// memory shows as an error there, and on machines with several memory nodes the pages lie near
// whoever writes them. Nothing else is touched before it is used.
//
// Thread: any; the memory is what its users make of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "horovodx/base/status.h"
#include "horovodx/transport/shm/memory_file.h"

namespace horovodx::transport::shm {

// What all members must mean by the segment; it stands in the header and is compared.
struct Shape {
  std::uint32_t members = 0;
  std::uint32_t detail = 0;  // tells apart layouts that happen to have the same size
  std::uint64_t block_bytes = 0;
  bool operator==(const Shape&) const = default;
};

enum class Kind { kUnnamed, kNamed };
const char* NameOf(Kind kind);

class Segment {
 public:
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  // By member 0.
  static Result<Segment> Make(Kind kind, const Shape& shape);
  // By the others, with what the maker's ticket() said (from the store: it is not trusted). Only
  // the very segment that the ticket was written for passes: the header repeats its random token.
  static Result<Segment> Open(const std::string& ticket, const Shape& shape, int member);
  // For a member that is alone.
  static Result<Segment> MakePrivate(const Shape& shape);

  std::byte* block(int member) const;
  const std::string& ticket() const { return ticket_; }
  // All have it: nobody can open it any more, and no descriptor or name is left.
  void CloseDoor() { file_ = MemoryFile(); }

 private:
  using Token = std::array<std::uint64_t, 2>;
  struct Header;

  Segment(std::byte* memory, const Shape& shape, MemoryFile file);
  static Result<Segment> Map(MemoryFile file, const Shape& shape);
  Header& header() const;
  Status Reserve(int member) const;
  Status Check(const Shape& shape, const Token& token) const;

  std::byte* memory_ = nullptr;
  Shape shape_;
  MemoryFile file_;
  std::string ticket_;
};

}  // namespace horovodx::transport::shm
