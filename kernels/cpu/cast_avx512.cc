#include "kernels/cpu/cast_vector.h"

namespace horovodx::kernels::cpu {
namespace {

struct Avx512 {
  static constexpr int kBytes = 64;
};

}  // namespace

constinit const CastTable kCastAvx512 = CastTableOf<Avx512>::Make();

}  // namespace horovodx::kernels::cpu
