// Links: ordered, reliable byte streams from one rank to another. One direction each.
//
// Everything above (messages, collectives) is written once against these two classes; a transport
// is whoever implements them. Calls never block: what waits is Mesh::Await.
//
// Thread: one thread at a time per link.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"

namespace horovodx::transport {

class OutLink {
 public:
  virtual ~OutLink() = default;
  // Takes as many bytes from the front of the concatenated `pieces` as fit now; 0 when none do. An
  // error means the peer is gone; it names the peer.
  virtual Result<std::size_t> TryWrite(std::span<const ConstBytes> pieces) = 0;
  // Whether TryWrite would take at least one byte (or report an error). Used between Listen and
  // Sleep.
  virtual bool Writable() = 0;
  // The descriptor that becomes writable, or -1 if the peer rings our bell instead, or if there is
  // no need to wait.
  virtual int fd() { return -1; }
  // "rank 5 (10.0.0.7:4711, tcp)".
  virtual std::string Describe() const = 0;
};

class InLink {
 public:
  virtual ~InLink() = default;
  // Fills the front of the concatenated `pieces` with what has arrived; 0 when nothing has.
  virtual Result<std::size_t> TryRead(std::span<const MutableBytes> pieces) = 0;
  virtual bool Readable() = 0;
  virtual int fd() { return -1; }
  virtual std::string Describe() const = 0;
};

}  // namespace horovodx::transport
