// Frames: how messages are laid into a link's byte stream.
//
// A message is one or more frames of at most kFrameBytes, each behind a 16-byte header:
//   bytes 0-3  epoch, 4-7  bytes in this frame, 8-15  bytes of the whole message   (little endian)
// Short frames bound what is left over when a sender gives up a message half-way: the rest of one
// frame. A receiver throws away frames of older epochs.
//
// Thread: as the link's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/transport/link.h"

namespace horovodx::collectives {

inline constexpr std::size_t kFrameBytes = 256 << 10;
inline constexpr std::size_t kFrameHeaderBytes = 16;
// A message of at most this is read together with its header: one call instead of two.
inline constexpr std::size_t kReadAheadBytes = 1 << 10;

// Walks over the concatenation of byte spans.
template <typename Span>
class SpanCursor {
 public:
  explicit SpanCursor(std::span<const Span> spans) : spans_(spans) {
    for (const auto& s : spans) left_ += s.size();
  }
  std::size_t left() const { return left_; }
  // Appends the next `bytes` (at most 62 spans of them) to `to`; returns how many were covered.
  std::size_t Peek(std::size_t bytes, std::vector<Span>& to) const;
  void Advance(std::size_t bytes);

 private:
  std::span<const Span> spans_;
  std::size_t index_ = 0;
  std::size_t offset_ = 0;
  std::size_t left_ = 0;
};

// Writes messages to one link.
class FrameWriter {
 public:
  // Starts a message. The spans stay valid until done() or Abandon().
  void Begin(std::uint32_t epoch, std::span<const ConstBytes> message);
  // Writes what fits; returns how many bytes moved.
  Result<std::size_t> Pump(transport::OutLink& link);
  bool done() const { return !message_.has_value(); }
  // Gives the message up. The rest of the frame under way is copied and goes out first next time.
  void Abandon();

 private:
  void NextFrame();

  std::vector<std::byte> residue_;  // of an abandoned frame
  std::size_t residue_sent_ = 0;
  std::optional<SpanCursor<ConstBytes>> message_;
  std::uint32_t epoch_ = 0;
  std::uint64_t message_bytes_ = 0;
  std::array<std::byte, kFrameHeaderBytes> header_{};
  std::size_t header_left_ = 0;
  std::size_t frame_left_ = 0;
  std::vector<ConstBytes> spans_;  // scratch
};

// Reads messages from one link.
class FrameReader {
 public:
  void Begin(std::uint32_t epoch, std::span<const MutableBytes> message);
  // Reads what is there; returns how many bytes moved. An error: the peer is gone, or it sent a
  // message of another length than expected.
  Result<std::size_t> Pump(transport::InLink& link);
  bool done() const { return !message_.has_value(); }
  // Bytes of the message that have arrived, from its beginning.
  std::size_t arrived() const { return arrived_; }
  // True when the next frame belongs to a later epoch: this message will never be complete.
  bool overtaken() const { return overtaken_; }
  void Abandon();

 private:
  Status OnHeader(const transport::InLink& link);
  Result<std::size_t> ReadHeader(transport::InLink& link);
  Result<std::size_t> Read(transport::InLink& link, std::span<const MutableBytes> into);
  Result<std::size_t> Discard(transport::InLink& link);

  std::array<std::byte, kFrameHeaderBytes> header_{};
  std::size_t header_read_ = 0;  // of the frame at hand; kFrameHeaderBytes: in its payload
  bool discard_ = false;         // the payload at hand belongs to nobody
  std::size_t frame_left_ = 0;
  std::uint32_t epoch_ = 0;
  std::optional<SpanCursor<MutableBytes>> message_;
  std::uint64_t message_bytes_ = 0;
  std::size_t arrived_ = 0;
  bool overtaken_ = false;
  std::vector<MutableBytes> spans_;  // scratch
  // Came with a header, and not looked at yet: it goes to no tensor before its header was seen.
  std::array<std::byte, kReadAheadBytes> ahead_;
  std::size_t ahead_from_ = 0;
  std::size_t ahead_to_ = 0;
};

}  // namespace horovodx::collectives
