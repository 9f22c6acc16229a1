// What hvdx-sim-core reads and writes: plain lines, so that nothing here needs to know JSON.
//
// Words apart by blanks; seconds, bytes. A line is one of
//   forward S                    the forward pass
//   tail S                       of the backward pass, after the last gradient is ready
//   layer S B                    backward time and gradient; in forward order, last is ready first
//   tensor S B                   ready that long after the start of the backward pass; in that
//   order host S S, net S S            latency and seconds a byte, inside a host and between hosts
//   reduce S                     seconds a byte to add up
//   windows 0|1                  see Cluster
//   threshold B, bucket_bytes B  of the schedules
//   rules TEXT                   HOROVODX_ALLREDUCE
//   sample B S                   a collective that was measured, for the algorithm "fitted"
//   fit                          answered with the fitted cost
//   run RULE ALGORITHM HOSTS RANKS_PER_HOST SPLIT
//   cost ALGORITHM HOSTS RANKS_PER_HOST B
// and is answered, if at all, by
//   run SECONDS EXPOSED BUSY BUCKETS, then for every bucket
//   bucket FIRST END WAITED_FOR B READY START END ALGORITHM GATHER_START GATHER_END
//   cost SECONDS HOST_STEPS NET_STEPS HOST_BYTES NET_BYTES ALGORITHM
//   piece FROM LATENCY SECONDS_PER_BYTE
// Tensors are numbered from 0 in order of readiness.
#pragma once

#include <istream>
#include <ostream>

#include "horovodx/base/status.h"

namespace horovodx::sim {

// Until the end of the input. An error names the line and the word that is wrong.
[[nodiscard]] Status RunScript(std::istream& in, std::ostream& out);

}  // namespace horovodx::sim
