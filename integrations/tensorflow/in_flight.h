// How many collectives are between start and end: tests count with it.
#pragma once

namespace hvdx_tf {

struct InFlight {
  static void Enter();
  static void Leave();
};

}  // namespace hvdx_tf
