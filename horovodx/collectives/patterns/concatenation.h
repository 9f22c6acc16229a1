// Concatenation: byte spans seen as one long range, of which any stretch can be had. Pure.
//
// So that one operation serves a single tensor and several that travel together. The memory is
// borrowed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/collectives/patterns/blocks.h"

namespace horovodx::collectives {

class Concatenation {
 public:
  explicit Concatenation(std::span<const MutableBytes> spans) : spans_(spans.begin(), spans.end()) {
    for (const MutableBytes& span : spans_) {
      begins_.push_back(size_);
      size_ += span.size();
    }
  }
  std::size_t size() const { return size_; }

  // Appends the memory of `stretch` to `to`: O(log spans + spans met).
  template <typename Bytes>
  void Append(const Block& stretch, std::vector<Bytes>& to) const {
    std::size_t at = stretch.offset;
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), at);
    for (auto i = static_cast<std::size_t>(after - begins_.begin()); at < stretch.end(); ++i) {
      const MutableBytes span = spans_[i - 1].subspan(at - begins_[i - 1]);
      const std::size_t run = std::min(span.size(), stretch.end() - at);
      if (run > 0) to.push_back(span.first(run));
      at += run;
    }
  }
  std::vector<ConstBytes> ToSend(const Block& stretch) const { return Slice<ConstBytes>(stretch); }
  std::vector<MutableBytes> ToReceive(const Block& stretch) const {
    return Slice<MutableBytes>(stretch);
  }

 private:
  template <typename Bytes>
  std::vector<Bytes> Slice(const Block& stretch) const {
    std::vector<Bytes> slice;
    Append(stretch, slice);
    return slice;
  }

  std::vector<MutableBytes> spans_;
  std::vector<std::size_t> begins_;
  std::size_t size_ = 0;
};

}  // namespace horovodx::collectives
