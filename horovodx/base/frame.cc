#include "horovodx/base/frame.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "horovodx/base/little_endian.h"
#include "horovodx/base/socket.h"

namespace horovodx {

Status FrameParser::Feed(ConstBytes bytes, std::vector<Frame>* frames) {
  while (true) {
    if (header_.size() < kFrameHeaderBytes) {
      const std::size_t take = std::min(kFrameHeaderBytes - header_.size(), bytes.size());
      header_.insert(header_.end(), bytes.begin(), bytes.begin() + take);
      bytes = bytes.subspan(take);
      if (header_.size() < kFrameHeaderBytes) return Status::Ok();
      length_ = GetLittle<std::uint32_t>(header_.data());
      frame_.tag = GetLittle<std::uint32_t>(header_.data() + 4);
      if (length_ > most_) {
        return Status::Unknown("a message of " + std::to_string(length_) +
                               " bytes is too long (at most " + std::to_string(most_) + ")");
      }
    }
    const std::size_t take = std::min(length_ - frame_.content.size(), bytes.size());
    frame_.content.insert(frame_.content.end(), bytes.begin(), bytes.begin() + take);
    bytes = bytes.subspan(take);
    if (frame_.content.size() < length_) return Status::Ok();
    frames->push_back(std::exchange(frame_, Frame()));
    header_.clear();
  }
}

void FrameQueue::Push(std::uint32_t tag, std::vector<std::byte> content) {
  Outgoing& frame = frames_.emplace_back();
  PutLittle(static_cast<std::uint32_t>(content.size()), frame.header);
  PutLittle(tag, frame.header + 4);
  frame.content = std::move(content);
}

void FrameQueue::Advance(std::size_t sent) {
  sent_ += sent;
  while (!frames_.empty()) {
    const std::size_t size = kFrameHeaderBytes + frames_.front().content.size();
    if (sent_ < size) return;
    sent_ -= size;
    frames_.pop_front();
  }
}

Status FrameQueue::SendSome(int fd) {
  return SendSome([fd](std::span<iovec> pieces) {
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

Status FrameQueue::SendSome(const Send& send) {
  while (!frames_.empty()) {
    std::array<iovec, 32> pieces;
    std::size_t count = 0;
    std::size_t skip = sent_;
    const auto add = [&](std::byte* data, std::size_t size) {
      const std::size_t skipped = std::min(skip, size);
      skip -= skipped;
      if (size > skipped) pieces[count++] = {data + skipped, size - skipped};
    };
    for (Outgoing& frame : frames_) {
      if (count + 2 > pieces.size()) break;
      add(frame.header, kFrameHeaderBytes);
      add(frame.content.data(), frame.content.size());
    }
    const ssize_t sent = send(std::span(pieces).first(count));
    if (sent >= 0) {
      Advance(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return Status::Ok();
    } else if (errno != EINTR) {
      return Status::Unknown("connection lost: " + ErrnoText(errno));
    }
  }
  return Status::Ok();
}

Result<std::size_t> ReadFrames(int fd, FrameParser& parser, std::vector<Frame>* frames) {
  const auto receive = [fd](MutableBytes into) {
    return ::recv(fd, into.data(), into.size(), MSG_DONTWAIT);
  };
  return ReadFrames(receive, parser, frames);
}

Result<std::size_t> ReadFrames(const ReceiveBytes& receive, FrameParser& parser,
                               std::vector<Frame>* frames) {
  std::array<std::byte, 64 * 1024> bytes;
  std::size_t total = 0;
  while (true) {
    const ssize_t got = receive(bytes);
    if (got > 0) {
      const auto size = static_cast<std::size_t>(got);
      HVDX_RETURN_IF_ERROR(parser.Feed(ConstBytes(bytes).first(size), frames));
      total += size;
      if (size < bytes.size()) return total;
    } else if (got == 0) {
      return Status::Unknown("connection closed");
    } else if (errno == EAGAIN) {
      return total;
    } else if (errno != EINTR) {
      return Status::Unknown("connection lost: " + ErrnoText(errno));
    }
  }
}

}  // namespace horovodx
