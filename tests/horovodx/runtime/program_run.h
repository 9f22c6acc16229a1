// One rank's run of a random program.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "horovodx/runtime/engine.h"
#include "tests/horovodx/runtime/random_program.h"

namespace horovodx::runtime {

// Everything one rank got back, in the order of its program.
using Results = std::vector<std::vector<std::byte>>;

class ProgramRun {
 public:
  ProgramRun(const RandomProgram& program, Engine& engine) : program_(program), engine_(engine) {}

  // Fails the test at what fails, and at what hangs.
  Results Go();

 private:
  struct InFlight {
    OperationPtr operation;
    std::vector<std::byte> input;
    std::vector<std::byte> output;  // unless the operation keeps it
    std::size_t result = 0;
  };

  void Start(const ProgramTensor& tensor);
  void WaitFor(InFlight& flight, bool poll);
  void WaitForAll(bool poll = false);
  void RunPhase(const Phase& phase);
  void RunUnevenStepsAndJoin();
  void WaitForOthers();

  const RandomProgram& program_;
  Engine& engine_;
  std::map<std::string, InFlight> in_flight_;
  Results results_;
};

}  // namespace horovodx::runtime
