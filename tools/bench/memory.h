// What the machine's memory gives and what this process takes of it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

namespace horovodx::bench {

// Memory of a tensor: aligned, all pages there before the clock starts.
class Block {
 public:
  explicit Block(std::size_t bytes) : data_(new (std::align_val_t{kAlign}) std::byte[bytes]) {
    std::memset(data_.get(), 0, bytes);
  }
  std::byte* get() const { return data_.get(); }

 private:
  static constexpr std::size_t kAlign = 4096;
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kAlign}); }
  };
  std::unique_ptr<std::byte[], Delete> data_;
};

// Bytes this process reads and writes a second, copying memory far larger than any cache. Call it
// on all ranks at once; their sum is the machine's.
double CopyBandwidth();

// Largest resident memory since the last call of ResetPeak, and now. Bytes.
std::size_t PeakResident();
std::size_t Resident();
void ResetPeak();

}  // namespace horovodx::bench
