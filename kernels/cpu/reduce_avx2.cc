#include "kernels/cpu/reduce_vector.h"

namespace horovodx::kernels::cpu {
namespace {

struct Avx2 {
  static constexpr int kBytes = 32;
};

}  // namespace

constinit const ReduceTable kReduceAvx2 = ReduceTableOf<Avx2>::Make();

}  // namespace horovodx::kernels::cpu
