#include "kernels/cpu/reduce_vector.h"

namespace horovodx::kernels::cpu {
namespace {

struct Avx512 {
  static constexpr int kBytes = 64;
};

}  // namespace

constinit const ReduceTable kReduceAvx512 = ReduceTableOf<Avx512>::Make();

}  // namespace horovodx::kernels::cpu
