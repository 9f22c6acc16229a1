// Frames: messages with a length in front, how they are cut out of a byte stream and put into one.
//
// On the wire, little-endian: u32 length of the content, u32 tag, then the content. What a tag
// means is up to the protocol.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"

namespace horovodx {

inline constexpr std::size_t kFrameHeaderBytes = 8;

struct Frame {
  std::uint32_t tag = 0;
  std::vector<std::byte> content;
};

// Cuts frames out of a stream that arrives in any pieces. A frame longer than `most` is an error
// before any memory is set aside for it; memory grows with what has arrived, not with what was
// announced. After an error the stream is lost.
class FrameParser {
 public:
  explicit FrameParser(std::size_t most) : most_(most) {}
  // Appends the frames that `bytes` completes. No I/O.
  Status Feed(ConstBytes bytes, std::vector<Frame>* frames);

 private:
  std::size_t most_;
  std::vector<std::byte> header_;
  Frame frame_;
  std::size_t length_ = 0;
};

// Frames on their way out of a socket. Thread: one at a time (or the caller's lock).
class FrameQueue {
 public:
  void Push(std::uint32_t tag, std::vector<std::byte> content);
  bool empty() const { return frames_.empty(); }
  // Sends what a non-blocking socket takes now; an error when it is gone.
  Status SendSome(int fd);
  // The same over what is not just a socket; `send` is as sendmsg.
  using Send = std::function<ssize_t(std::span<iovec> pieces)>;
  Status SendSome(const Send& send);

 private:
  struct Outgoing {
    std::byte header[kFrameHeaderBytes];
    std::vector<std::byte> content;
  };
  void Advance(std::size_t sent);

  std::deque<Outgoing> frames_;
  std::size_t sent_ = 0;  // of the first frame, header included
};

// Reads what a non-blocking socket has now, cuts it into frames, and returns how many bytes it was.
// Frames that were complete before an error are kept. The end of the stream is an error too:
// "connection closed".
Result<std::size_t> ReadFrames(int fd, FrameParser& parser, std::vector<Frame>* frames);
// The same over what is not just a socket; `receive` is as recv, and takes all that there is.
using ReceiveBytes = std::function<ssize_t(MutableBytes into)>;
Result<std::size_t> ReadFrames(const ReceiveBytes& receive, FrameParser& parser,
                               std::vector<Frame>* frames);

}  // namespace horovodx
