#include "integrations/tensorflow/status.h"

#include "horovodx/api/c_api.h"

namespace hvdx_tf {

TF_Code CodeFor(std::int32_t status) {
  switch (status) {
    case HVDX_OK:
      return TF_OK;
    case HVDX_PRECONDITION:
      return TF_FAILED_PRECONDITION;
    case HVDX_ABORTED:
      return TF_ABORTED;
    case HVDX_INVALID_ARGUMENT:
      return TF_INVALID_ARGUMENT;
    default:
      return TF_UNKNOWN;
  }
}

}  // namespace hvdx_tf
