// What one collective takes by its size. Pure.
//
// Pieces of lines, as they are fitted to measurements: real curves jump where protocols change. Or
// any function, for who has one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace horovodx::schedule {

// From so many bytes on, up to where the next piece begins: latency + bytes * seconds_per_byte.
struct Piece {
  std::uint64_t from = 0;
  double latency = 0.0;
  double seconds_per_byte = 0.0;

  double At(double bytes) const { return latency + bytes * seconds_per_byte; }
};

class CostModel {
 public:
  using Function = std::function<double(std::uint64_t bytes)>;

  // Nothing costs anything.
  CostModel() : CostModel(0.0, 0.0) {}
  CostModel(double latency, double seconds_per_byte) : pieces_{{0, latency, seconds_per_byte}} {}
  // The first is from 0 on, each other from more than the one before.
  static CostModel Of(std::vector<Piece> pieces);
  // More bytes never take less time.
  static CostModel Of(Function function);

  // O(log pieces).
  double Seconds(std::uint64_t bytes) const;
  // What a collective takes however small it is: the "a" of a + b * bytes.
  double latency() const { return Seconds(0); }
  // Empty: a function.
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
  Function function_;
};

}  // namespace horovodx::schedule
