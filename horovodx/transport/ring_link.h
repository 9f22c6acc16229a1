// Links over a ByteRing: each side rings the other's bell when it has made room or brought bytes.
#pragma once

#include <string>
#include <utility>

#include "horovodx/base/bell.h"
#include "horovodx/transport/byte_ring.h"
#include "horovodx/transport/link.h"

namespace horovodx::transport {

class RingOutLink : public OutLink {
 public:
  RingOutLink(ByteRing ring, Bell reader, std::string name)
      : ring_(ring), reader_(reader.OfLinks()), name_(std::move(name)) {}
  Result<std::size_t> TryWrite(std::span<const ConstBytes> pieces) override {
    const std::size_t written = ring_.Write(pieces);
    if (written > 0) reader_.Ring();
    return written;
  }
  bool Writable() override { return ring_.room() > 0; }
  std::string Describe() const override { return name_; }

 private:
  ByteRing ring_;
  Bell reader_;
  std::string name_;
};

class RingInLink : public InLink {
 public:
  RingInLink(ByteRing ring, Bell writer, std::string name)
      : ring_(ring), writer_(writer.OfLinks()), name_(std::move(name)) {}
  Result<std::size_t> TryRead(std::span<const MutableBytes> pieces) override {
    const std::size_t read = ring_.Read(pieces);
    if (read > 0) writer_.Ring();
    return read;
  }
  bool Readable() override { return ring_.filled() > 0; }
  std::string Describe() const override { return name_; }

 private:
  ByteRing ring_;
  Bell writer_;
  std::string name_;
};

}  // namespace horovodx::transport
