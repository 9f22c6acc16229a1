#include "tools/bench/models.h"

namespace horovodx::bench {
namespace {

class Layers {
 public:
  explicit Layers(std::vector<std::size_t>& elements) : elements_(elements) {}

  void Tensor(std::size_t n) { elements_.push_back(n); }
  void ConvAndNorm(std::size_t in, std::size_t out, std::size_t kernel) {
    Tensor(in * out * kernel * kernel);
    Norm(out);
  }
  void Norm(std::size_t width) {
    Tensor(width);
    Tensor(width);
  }
  void Linear(std::size_t in, std::size_t out) {
    Tensor(in * out);
    Tensor(out);
  }

 private:
  std::vector<std::size_t>& elements_;
};

}  // namespace

Model ResNet50() {
  Model model{"resnet50", {}};
  Layers add(model.elements);
  add.ConvAndNorm(3, 64, 7);
  std::size_t in = 64;
  const struct {
    int blocks;
    std::size_t width;
  } stages[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
  for (const auto& stage : stages) {
    const std::size_t out = 4 * stage.width;
    for (int block = 0; block < stage.blocks; ++block) {
      add.ConvAndNorm(in, stage.width, 1);
      add.ConvAndNorm(stage.width, stage.width, 3);
      add.ConvAndNorm(stage.width, out, 1);
      if (block == 0) add.ConvAndNorm(in, out, 1);  // the shortcut changes its width here
      in = out;
    }
  }
  add.Linear(in, 1000);
  return model;
}

Model BertBase() {
  constexpr std::size_t kWidth = 768;
  Model model{"bert", {}};
  Layers add(model.elements);
  for (const std::size_t rows : {30522, 512, 2}) add.Tensor(rows * kWidth);  // word, place, segment
  add.Norm(kWidth);
  for (int layer = 0; layer < 12; ++layer) {
    for (int matrix = 0; matrix < 4; ++matrix) add.Linear(kWidth, kWidth);  // query key value out
    add.Norm(kWidth);
    add.Linear(kWidth, 4 * kWidth);
    add.Linear(4 * kWidth, kWidth);
    add.Norm(kWidth);
  }
  add.Linear(kWidth, kWidth);  // the pooler
  return model;
}

Model ManySmall(std::size_t tensors) {
  Model model{"small", {}};
  Layers add(model.elements);
  // 256 to 4096 floats, in steps of 256, in an order that mixes them.
  for (std::size_t i = 0; i < tensors; ++i) add.Tensor(256 * (1 + (i * 7) % 16));
  return model;
}

}  // namespace horovodx::bench
