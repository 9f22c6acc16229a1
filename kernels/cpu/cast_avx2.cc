#include "kernels/cpu/cast_vector.h"

namespace horovodx::kernels::cpu {
namespace {

struct Avx2 {
  static constexpr int kBytes = 32;
};

}  // namespace

constinit const CastTable kCastAvx2 = CastTableOf<Avx2>::Make();

}  // namespace horovodx::kernels::cpu
