// Engine: HorovodX through its C ABI, as much of it as a benchmark needs. Whatever fails ends the
// process with a message: there is nothing to measure then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace horovodx::bench {

// Prints "hvdx-bench: rank r: ..." and ends this rank.
[[noreturn]] void Fail(const std::string& what);

class Engine {
 public:
  Engine();   // init from the environment
  ~Engine();  // shutdown
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Blocking sum.
  void Allreduce(const std::string& name, int type, std::size_t elements, const void* input,
                 void* output);
  // All ranks have called it when it returns.
  void Meet();
  // The largest of all ranks' values, place by place. All ranks give as many.
  std::vector<double> Max(std::vector<double> values);

  // A tensor that is summed again and again: registered once, then submitted by number.
  using Slot = std::int64_t;
  using Handle = std::int64_t;
  Slot Register(const std::string& name, int type, std::size_t elements);
  Handle Submit(Slot slot, const void* input, void* output);
  void Wait(Handle handle);

  // Control messages this rank has sent and received so far.
  std::int64_t control_messages() const;

 private:
  int rank_ = 0;
  int size_ = 1;
  std::size_t gathers_ = 0;
};

}  // namespace horovodx::bench
