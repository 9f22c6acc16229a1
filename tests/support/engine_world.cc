#include "tests/support/engine_world.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace horovodx::testing_support {

EngineWorld::EngineWorld(int ranks, runtime::EngineOptions options)
    : EngineWorld(topology::HostMap::OneHost(ranks), std::move(options)) {}

EngineWorld::EngineWorld(topology::HostMap hosts, runtime::EngineOptions options,
                         transport::loopback::WorldOptions transport)
    : world_(std::move(hosts), transport), options_(std::move(options)) {}

void EngineWorld::Run(const std::function<void(runtime::Engine&)>& body) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size(); ++rank) {
    ranks.emplace_back([this, rank, &body] {
      auto engine = runtime::Engine::Start(world_.Join(rank), options_);
      ASSERT_TRUE(engine.ok()) << engine.status().ToString();
      body(**engine);
      (*engine)->Shutdown();
    });
  }
  for (auto& rank : ranks) rank.join();
}

runtime::Submission Allreduce(const std::string& name, std::vector<float>& tensor, ReduceOp op) {
  runtime::Submission s;
  s.request.kind = negotiation::Kind::kAllreduce;
  s.request.name = name;
  s.request.op = op;
  s.request.shape = {static_cast<std::int64_t>(tensor.size())};
  s.input = tensor.data();
  s.output = tensor.data();
  return s;
}

Status SubmitAndWait(runtime::Engine& engine, runtime::Submission submission) {
  auto operation = engine.Submit(std::move(submission));
  if (!operation.ok()) return operation.status();
  if (!engine.Wait(*operation, Deadline::After(Seconds(60)))) {
    return Status::Unknown("the test's deadline passed");
  }
  return (*operation)->status;
}

}  // namespace horovodx::testing_support
