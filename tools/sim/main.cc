// hvdx-sim-core: the numbers of hvdx-sim; see script.h for what it reads and writes.
#include <cstdio>
#include <iostream>

#include "tools/sim/script.h"

int main() {
  std::ios::sync_with_stdio(false);
  const horovodx::Status status = horovodx::sim::RunScript(std::cin, std::cout);
  std::cout.flush();
  if (status.ok()) return 0;
  std::fprintf(stderr, "hvdx-sim: %s\n", status.message().c_str());
  return 2;
}
