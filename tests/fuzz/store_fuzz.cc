// What a client of the store can send once it is let in: any bytes, in pieces, become frames and
// requests or an error. What decodes is within the limits and encodes to the same bytes again.
//
// The first byte of the input says how long the pieces are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "horovodx/base/check.h"
#include "horovodx/base/frame.h"
#include "horovodx/base/little_endian.h"
#include "horovodx/rendezvous/store_request.h"

namespace horovodx::rendezvous {
namespace {

void Ask(const Frame& frame) {
  const auto request = DecodeStoreRequest(frame);
  if (!request.ok()) return;
  HVDX_CHECK(request.value().key.size() <= kMostKeyBytes);
  HVDX_CHECK(request.value().value.size() <= kMostValueBytes);
  const Frame again = Encode(request.value());
  HVDX_CHECK(again.tag == frame.tag && again.content == frame.content);
}

void FeedServer(ConstBytes input, std::size_t piece) {
  FrameParser parser(kMostRequestBytes);
  std::vector<Frame> frames;
  while (!input.empty()) {
    const std::size_t size = std::min(piece, input.size());
    const Status fed = parser.Feed(input.first(size), &frames);
    for (const Frame& frame : frames) {
      HVDX_CHECK(frame.content.size() <= kMostRequestBytes);
      Ask(frame);
    }
    frames.clear();
    if (!fed.ok()) return;
    input = input.subspan(size);
  }
}

}  // namespace
}  // namespace horovodx::rendezvous

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace horovodx;  // NOLINT: one function
  if (size == 0) return 0;
  rendezvous::FeedServer(BytesOf(data + 1, size - 1), 1 + std::size_t{data[0]});
  // And as the content of one frame: lengths that fit are rarely guessed.
  const ConstBytes content = BytesOf(data + 1, size - 1);
  rendezvous::Ask({data[0] % 5u, {content.begin(), content.end()}});
  return 0;
}
