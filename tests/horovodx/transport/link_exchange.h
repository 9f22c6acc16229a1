// How the shared suite moves bytes over bare links: without frames, in random pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/clock.h"
#include "horovodx/transport/mesh.h"

namespace horovodx::transport::suite {

inline constexpr double kPatience = 60;  // seconds; for what is sure to come

// What `from` sends to `to`: different for every pair and size, and it repeats only after a number
// of bytes that no buffer is a multiple of.
inline std::vector<std::byte> Pattern(int from, int to, std::size_t size) {
  std::mt19937 random(static_cast<unsigned>(from * 1'000'003 + to * 7919) +
                      static_cast<unsigned>(size));
  std::array<std::byte, 4099> period;
  for (auto& b : period) b = static_cast<std::byte>(random());
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; at += period.size()) {
    std::memcpy(bytes.data() + at, period.data(), std::min(period.size(), size - at));
  }
  return bytes;
}

// Cuts [begin, end) of a buffer into up to eight pieces at random places; some may be empty.
template <typename Piece, typename Pointer>
std::vector<Piece> Cut(Pointer data, std::size_t begin, std::size_t end, std::mt19937& random) {
  std::vector<std::size_t> cuts{begin, end};
  for (unsigned extra = random() % 8; extra > 0; --extra) {
    cuts.push_back(begin + random() % (end - begin + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<Piece> pieces;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    pieces.emplace_back(data + cuts[i - 1], cuts[i] - cuts[i - 1]);
  }
  return pieces;
}

// One direction of an exchange: how far it is.
struct Outgoing {
  OutLink* link;
  const std::vector<std::byte>* bytes;
  std::size_t done = 0;
  bool complete() const { return done == bytes->size(); }
  Result<std::size_t> Pump(std::mt19937& random) {
    const auto pieces = Cut<ConstBytes>(bytes->data(), done, bytes->size(), random);
    HVDX_ASSIGN_OR_RETURN(const std::size_t moved, link->TryWrite(pieces));
    done += moved;
    return moved;
  }
};
struct Incoming {
  InLink* link;
  std::vector<std::byte>* bytes;
  std::size_t done = 0;
  bool complete() const { return done == bytes->size(); }
  Result<std::size_t> Pump(std::mt19937& random) {
    const auto pieces = Cut<MutableBytes>(bytes->data(), done, bytes->size(), random);
    HVDX_ASSIGN_OR_RETURN(const std::size_t moved, link->TryRead(pieces));
    done += moved;
    return moved;
  }
};

// Sends `out` to one member and fills `in` from another, at the same time.
inline Status Exchange(Mesh& mesh, int to, const std::vector<std::byte>& out, int from,
                       std::vector<std::byte>& in, std::mt19937& random) {
  Outgoing sending{&mesh.Out(to), &out};
  Incoming receiving{&mesh.In(from), &in};
  while (!sending.complete() || !receiving.complete()) {
    std::size_t moved = 0;
    if (!sending.complete()) {
      HVDX_ASSIGN_OR_RETURN(const std::size_t sent, sending.Pump(random));
      moved += sent;
    }
    if (!receiving.complete()) {
      HVDX_ASSIGN_OR_RETURN(const std::size_t received, receiving.Pump(random));
      moved += received;
    }
    if (moved > 0) continue;
    HVDX_RETURN_IF_ERROR(mesh.Await(receiving.complete() ? nullptr : receiving.link,
                                    sending.complete() ? nullptr : sending.link,
                                    Deadline::After(Seconds(kPatience))));
  }
  return Status::Ok();
}

// One byte, as a signal between ranks that may be processes.
inline Status Tell(Mesh& mesh, int member) {
  std::mt19937 random(1);
  const std::vector<std::byte> byte(1);
  Outgoing sending{&mesh.Out(member), &byte};
  while (!sending.complete()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t moved, sending.Pump(random));
    if (moved > 0) break;
    HVDX_RETURN_IF_ERROR(mesh.Await(nullptr, sending.link, Deadline::After(Seconds(kPatience))));
  }
  return Status::Ok();
}
inline Status Hear(Mesh& mesh, int member) {
  std::mt19937 random(1);
  std::vector<std::byte> byte(1);
  Incoming receiving{&mesh.In(member), &byte};
  while (!receiving.complete()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t moved, receiving.Pump(random));
    if (moved > 0) break;
    HVDX_RETURN_IF_ERROR(mesh.Await(receiving.link, nullptr, Deadline::After(Seconds(kPatience))));
  }
  return Status::Ok();
}

// Waits until all members of the stage have reached `mark`; false after long enough.
inline bool AwaitAllAt(Mesh& mesh, Mark mark) {
  const Deadline deadline = Deadline::After(Seconds(kPatience));
  Bell::Listener listener(mesh.bell());
  while (!mesh.stage()->AllAt(mark)) {
    if (!listener.Sleep(deadline)) return mesh.stage()->AllAt(mark);
  }
  return true;
}

}  // namespace horovodx::transport::suite
