// The operations as TensorFlow sees them: names, attributes, types. Horovod's names and attributes.
#pragma once

namespace hvdx_tf {

void DefineOps();

}  // namespace hvdx_tf
