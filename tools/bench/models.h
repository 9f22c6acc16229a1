// Gradient sizes of known models, in forward order, from their layer definitions. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace horovodx::bench {

struct Model {
  std::string name;
  std::vector<std::size_t> elements;  // of each gradient

  std::size_t total() const {
    std::size_t sum = 0;
    for (const std::size_t n : elements) sum += n;
    return sum;
  }
};

Model ResNet50();                      // 161 gradients, 25.6 million elements
Model BertBase();                      // 199 gradients, 109.5 million elements
Model ManySmall(std::size_t tensors);  // 1 to 16 KiB each, in mixed order

}  // namespace horovodx::bench
