// What strangers can send: the handshake's two ends, a handshake with somebody in the middle, and
// the frame parser.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "horovodx/base/check.h"
#include "horovodx/base/frame.h"
#include "horovodx/base/handshake.h"

namespace horovodx {
namespace {

const Credentials kCredentials{"a secret the fuzzer does not know", "job"};
const Claims kCall{Purpose::kLink, 3, 5, 17, 1, 2};
constexpr unsigned kAll =
    MaskOf(Purpose::kStore) | MaskOf(Purpose::kCourier) | MaskOf(Purpose::kLink);

Nonce Filled(int value) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(value));
  return nonce;
}
Handshake Caller() { return Handshake::Connect(kCall, kCredentials, Filled(1), "callee"); }
Handshake Callee() { return Handshake::Accept(5, kAll, kCredentials, Filled(2), "caller"); }

// Whatever comes, in whatever pieces: no success, and no more is read or written than agreed.
void FeedAStranger(Handshake handshake, ConstBytes input, std::size_t piece) {
  std::size_t written = 0;
  while (!input.empty() && handshake.wanted() > 0) {
    const std::size_t size = std::min({piece, input.size(), handshake.wanted()});
    handshake.Feed(input.first(size));
    input = input.subspan(size);
    written += handshake.output().size();
    handshake.Sent(handshake.output().size());
  }
  HVDX_CHECK(written <= Handshake::kChallengeBytes + Handshake::kHelloBytes);
  handshake.Closed();
  HVDX_CHECK(handshake.finished() && !handshake.status().ok());
}

// Two honest ends; the input says which bytes of which message are changed.
void MeddleInTheMiddle(ConstBytes input) {
  Handshake caller = Caller(), callee = Callee();
  bool changed = false;
  for (int turn = 0; turn < 3; ++turn) {
    Handshake& writer = turn == 1 ? caller : callee;
    Handshake& reader = turn == 1 ? callee : caller;
    std::vector<std::byte> bytes(writer.output().begin(), writer.output().end());
    writer.Sent(bytes.size());
    while (input.size() >= 2 && input[0] != std::byte{0xff} && !bytes.empty()) {
      bytes[static_cast<std::size_t>(input[0]) % bytes.size()] ^= input[1];
      changed |= input[1] != std::byte{0};
      input = input.subspan(2);
    }
    if (!input.empty()) input = input.subspan(1);
    bytes.resize(std::min(bytes.size(), reader.wanted()));
    if (!bytes.empty()) reader.Feed(bytes);
  }
  const bool agreed = caller.settled() && caller.status().ok();
  HVDX_CHECK(changed || agreed);
  if (agreed) HVDX_CHECK(callee.settled() && callee.status().ok() && callee.claims() == kCall);
}

void ParseFrames(ConstBytes input, std::size_t piece) {
  constexpr std::size_t kMost = 64;
  const std::size_t arrived = input.size();
  FrameParser parser(kMost);
  std::vector<Frame> frames;
  while (!input.empty()) {
    const std::size_t size = std::min(piece, input.size());
    if (!parser.Feed(input.first(size), &frames).ok()) break;
    input = input.subspan(size);
  }
  std::size_t total = 0;
  for (const Frame& frame : frames) {
    HVDX_CHECK(frame.content.size() <= kMost);
    total += kFrameHeaderBytes + frame.content.size();
  }
  HVDX_CHECK(total <= arrived);
}

}  // namespace
}  // namespace horovodx

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace horovodx;
  if (size < 2) return 0;
  const std::size_t piece = 1 + data[1];
  const ConstBytes input = BytesOf(data + 2, size - 2);
  switch (data[0] % 4) {
    case 0:
      FeedAStranger(Callee(), input, piece);
      break;
    case 1:
      FeedAStranger(Caller(), input, piece);
      break;
    case 2:
      MeddleInTheMiddle(input);
      break;
    case 3:
      ParseFrames(input, piece);
      break;
  }
  return 0;
}
