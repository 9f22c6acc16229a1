// EngineWorld: N engines in one process, over loopback links.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "horovodx/runtime/engine.h"
#include "horovodx/transport/loopback/world.h"

namespace horovodx::testing_support {

class EngineWorld {
 public:
  explicit EngineWorld(int ranks, runtime::EngineOptions options = {});
  EngineWorld(topology::HostMap hosts, runtime::EngineOptions options,
              transport::loopback::WorldOptions transport = {});

  int size() const { return world_.hosts().size(); }
  transport::loopback::World& world() { return world_; }

  // Starts an engine a rank, each on a thread of its own, runs `body`, shuts down, returns when all
  // have. Once a world.
  void Run(const std::function<void(runtime::Engine&)>& body);

 private:
  transport::loopback::World world_;
  runtime::EngineOptions options_;
};

// The same over TCP alone, on this machine's own address: each rank a host of its own, `streams`
// sockets a link.
void RunEnginesOverTcp(int ranks, const runtime::EngineOptions& options, int streams,
                       const std::function<void(runtime::Engine&)>& body);

// A submission with sensible defaults.
runtime::Submission Allreduce(const std::string& name, std::vector<float>& tensor,
                              ReduceOp op = ReduceOp::kSum);

// Submits, waits (with a deadline) and returns the operation's status.
Status SubmitAndWait(runtime::Engine& engine, runtime::Submission submission);

}  // namespace horovodx::testing_support
