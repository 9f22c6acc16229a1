// NativeAllreduce: an allreduce that the fabric under the links has by itself, such as MPI's.
//
// It cannot be taken back: it is called when all members are known to have come. Thread: one at a
// time.
#pragma once

#include <cstddef>
#include <set>
#include <utility>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "kernels/types.h"

namespace horovodx::transport {

class NativeAllreduce {
 public:
  virtual ~NativeAllreduce() = default;
  // The same answer on all members.
  virtual bool Has(ElementType type, ReduceOp op) const = 0;
  // In place, over all members of the mesh; blocks. The memory is not touched before it is over,
  // and never after the return. All members call it with the same arguments.
  virtual Status Run(ElementType type, ReduceOp op, void* data, std::size_t count,
                     const Deadline& deadline) = 0;
};

// What it can do, as plain data; nothing where there is none.
using NativeKinds = std::set<std::pair<ElementType, ReduceOp>>;
inline NativeKinds KindsOf(const NativeAllreduce* native) {
  NativeKinds kinds;
  for (int type = 0; native != nullptr && type < kElementTypes; ++type) {
    for (int op = 0; op < kReduceOps; ++op) {
      const std::pair kind(static_cast<ElementType>(type), static_cast<ReduceOp>(op));
      if (native->Has(kind.first, kind.second)) kinds.insert(kind);
    }
  }
  return kinds;
}

}  // namespace horovodx::transport
