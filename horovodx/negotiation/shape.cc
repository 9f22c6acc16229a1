#include "horovodx/negotiation/shape.h"

#include <algorithm>

namespace horovodx::negotiation {
namespace {

std::uint64_t Multiply(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kMostElements / b ? kMostElements : a * b;
}

std::uint64_t ElementsMoved(const Entry& entry) {
  if (entry.first_dims.empty()) return std::min(entry.elements, kMostElements);
  std::uint64_t rows = 0;
  for (std::int64_t dim : entry.first_dims) {
    rows = std::min(kMostElements, rows + static_cast<std::uint64_t>(std::max<std::int64_t>(
                                              0, std::min<std::int64_t>(dim, kMostElements))));
  }
  return Multiply(rows, ElementsOf(entry.shape, 1));
}

}  // namespace

std::uint64_t ElementsOf(const std::vector<std::int64_t>& shape, std::size_t first) {
  std::uint64_t product = 1;
  for (std::size_t i = first; i < shape.size(); ++i) {
    product = Multiply(product, shape[i] < 0 ? 0 : static_cast<std::uint64_t>(shape[i]));
  }
  return product;
}

bool IsShape(const std::vector<std::int64_t>& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim < 0; })) {
    return false;
  }
  return ElementsOf(shape) < kMostElements / 8;
}

std::string ToString(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::uint64_t BytesMoved(const Bucket& bucket) {
  std::uint64_t elements = 0;
  for (const Entry& entry : bucket.entries) {
    elements = std::min(kMostElements, elements + ElementsMoved(entry));
  }
  return Multiply(elements, SizeOf(bucket.type));
}

}  // namespace horovodx::negotiation
