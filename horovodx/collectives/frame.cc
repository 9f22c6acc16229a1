#include "horovodx/collectives/frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace horovodx::collectives {

template <typename Span>
std::size_t SpanCursor<Span>::Peek(std::size_t bytes, std::vector<Span>& to) const {
  constexpr int kMostSpans = 62;
  std::size_t covered = 0;
  std::size_t offset = offset_;
  int taken = 0;
  for (std::size_t i = index_; i < spans_.size() && covered < bytes && taken < kMostSpans; ++i) {
    const std::size_t run = std::min(spans_[i].size() - offset, bytes - covered);
    if (run > 0) {
      to.push_back(spans_[i].subspan(offset, run));
      ++taken;
    }
    covered += run;
    offset = 0;
  }
  return covered;
}

template <typename Span>
void SpanCursor<Span>::Advance(std::size_t bytes) {
  left_ -= bytes;
  while (bytes > 0) {
    const std::size_t run = std::min(spans_[index_].size() - offset_, bytes);
    offset_ += run;
    bytes -= run;
    if (offset_ == spans_[index_].size()) {
      ++index_;
      offset_ = 0;
    }
  }
}

template class SpanCursor<ConstBytes>;
template class SpanCursor<MutableBytes>;

// --- writer
// ---------------------------------------------------------------------------------------

void FrameWriter::Begin(std::uint32_t epoch, std::span<const ConstBytes> message) {
  message_.emplace(message);
  epoch_ = epoch;
  message_bytes_ = message_->left();
  NextFrame();
}

void FrameWriter::NextFrame() {
  frame_left_ = std::min(message_->left(), kFrameBytes);
  const auto length = static_cast<std::uint32_t>(frame_left_);
  std::memcpy(header_.data(), &epoch_, 4);
  std::memcpy(header_.data() + 4, &length, 4);
  std::memcpy(header_.data() + 8, &message_bytes_, 8);
  header_left_ = kFrameHeaderBytes;
}

Result<std::size_t> FrameWriter::Pump(transport::OutLink& link) {
  std::size_t moved = 0;
  while (!done()) {
    spans_.clear();
    const std::size_t residue = residue_.size() - residue_sent_;
    if (residue > 0) spans_.push_back(BytesOf(residue_.data() + residue_sent_, residue));
    if (header_left_ > 0) {
      spans_.push_back(BytesOf(header_.data() + kFrameHeaderBytes - header_left_, header_left_));
    }
    message_->Peek(frame_left_, spans_);
    auto written = link.TryWrite(spans_);
    if (!written.ok()) return written.status();
    std::size_t n = *written;
    if (n == 0) return moved;
    moved += n;
    const std::size_t of_residue = std::min(n, residue);
    residue_sent_ += of_residue;
    n -= of_residue;
    if (residue > 0 && residue_sent_ == residue_.size()) {
      residue_.clear();
      residue_sent_ = 0;
    }
    const std::size_t of_header = std::min(n, header_left_);
    header_left_ -= of_header;
    n -= of_header;
    message_->Advance(n);
    frame_left_ -= n;
    if (header_left_ > 0 || frame_left_ > 0) continue;
    if (message_->left() == 0) {
      message_.reset();
    } else {
      NextFrame();
    }
  }
  return moved;
}

void FrameWriter::Abandon() {
  if (done()) return;
  const bool frame_untouched =
      header_left_ == kFrameHeaderBytes;  // then the peer has not seen any of it
  if (!frame_untouched) {
    const auto header_rest = header_.end() - static_cast<std::ptrdiff_t>(header_left_);
    residue_.insert(residue_.end(), header_rest, header_.end());
    while (frame_left_ > 0) {
      spans_.clear();
      const std::size_t run = message_->Peek(frame_left_, spans_);
      for (ConstBytes s : spans_) residue_.insert(residue_.end(), s.begin(), s.end());
      message_->Advance(run);
      frame_left_ -= run;
    }
  }
  message_.reset();
}

// --- reader
// ---------------------------------------------------------------------------------------

void FrameReader::Begin(std::uint32_t epoch, std::span<const MutableBytes> message) {
  message_.emplace(message);
  epoch_ = epoch;
  message_bytes_ = message_->left();
  arrived_ = 0;
}

Status FrameReader::OnHeader(const transport::InLink& link) {
  std::uint32_t epoch = 0;
  std::uint32_t length = 0;
  std::uint64_t message_bytes = 0;
  std::memcpy(&epoch, header_.data(), 4);
  std::memcpy(&length, header_.data() + 4, 4);
  std::memcpy(&message_bytes, header_.data() + 8, 8);
  if (length > kFrameBytes || length > message_bytes) {
    return Status::Unknown(link.Describe() + " sent a frame of " + std::to_string(length) +
                           " bytes in a message of " + std::to_string(message_bytes));
  }
  frame_left_ = length;
  discard_ = epoch < epoch_;
  overtaken_ = epoch > epoch_;
  if (discard_ || overtaken_) return Status::Ok();
  if (message_bytes != message_bytes_ || length > message_->left()) {
    return Status::Unknown(link.Describe() + " sent a message of " + std::to_string(message_bytes) +
                           " bytes where " + std::to_string(message_bytes_) + " were expected");
  }
  return Status::Ok();
}

// First what was read ahead.
Result<std::size_t> FrameReader::Read(transport::InLink& link, std::span<const MutableBytes> into) {
  if (ahead_from_ == ahead_to_) return link.TryRead(into);
  std::size_t n = 0;
  for (const MutableBytes& piece : into) {
    const std::size_t run = std::min(piece.size(), ahead_to_ - ahead_from_);
    if (run > 0) std::memcpy(piece.data(), ahead_.data() + ahead_from_, run);
    ahead_from_ += run;
    n += run;
  }
  return n;
}

Result<std::size_t> FrameReader::ReadHeader(transport::InLink& link) {
  const MutableBytes header(header_.data() + header_read_, kFrameHeaderBytes - header_read_);
  std::size_t n = 0;
  if (ahead_from_ < ahead_to_ || message_->left() > kReadAheadBytes) {
    HVDX_ASSIGN_OR_RETURN(n, Read(link, std::span(&header, 1)));
  } else {
    const MutableBytes both[] = {header, {ahead_.data(), message_->left()}};
    HVDX_ASSIGN_OR_RETURN(const std::size_t all, link.TryRead(both));
    n = std::min(all, header.size());
    ahead_from_ = 0;
    ahead_to_ = all - n;
  }
  header_read_ += n;
  if (header_read_ == kFrameHeaderBytes) HVDX_RETURN_IF_ERROR(OnHeader(link));
  return n;
}

Result<std::size_t> FrameReader::Discard(transport::InLink& link) {
  std::array<std::byte, 4096> bin;
  const MutableBytes into(bin.data(), std::min(bin.size(), frame_left_));
  auto read = Read(link, std::span(&into, 1));
  if (read.ok()) frame_left_ -= *read;
  return read;
}

Result<std::size_t> FrameReader::Pump(transport::InLink& link) {
  std::size_t moved = 0;
  while (!done()) {
    if (overtaken_) {  // perhaps we have caught up since
      HVDX_RETURN_IF_ERROR(OnHeader(link));
      if (overtaken_) break;
    }
    if (header_read_ == kFrameHeaderBytes && frame_left_ == 0) {
      header_read_ = 0;
      const bool mine = !std::exchange(discard_, false);
      if (mine && message_->left() == 0) {
        message_.reset();
        break;
      }
      continue;
    }
    std::size_t n = 0;
    if (header_read_ < kFrameHeaderBytes) {
      HVDX_ASSIGN_OR_RETURN(n, ReadHeader(link));
    } else if (discard_) {
      HVDX_ASSIGN_OR_RETURN(n, Discard(link));
    } else {
      spans_.clear();
      message_->Peek(frame_left_, spans_);
      HVDX_ASSIGN_OR_RETURN(n, Read(link, spans_));
      message_->Advance(n);
      frame_left_ -= n;
      arrived_ += n;
    }
    if (n == 0) break;
    moved += n;
  }
  return moved;
}

void FrameReader::Abandon() {
  if (done()) return;
  message_.reset();
  const bool in_payload = header_read_ == kFrameHeaderBytes && frame_left_ > 0;
  if (in_payload && !overtaken_) discard_ = true;
}

}  // namespace horovodx::collectives
