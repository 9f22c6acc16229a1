#include "tests/support/engine_world.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>

#include "horovodx/rendezvous/memory_store.h"
#include "horovodx/transport/process/fabric.h"

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

void RunEnginesOverTcp(int ranks, const runtime::EngineOptions& options, int streams,
                       const std::function<void(runtime::Engine&)>& body) {
  using transport::process::ProcessFabric;
  rendezvous::MemoryStore store;
  const auto run = [&](int rank) {
    transport::process::Options join;
    join.rank = rank;
    join.size = ranks;
    join.hostname = "host " + std::to_string(rank);
    join.address = "127.0.0.1";
    join.secret = "a secret of the test";
    join.job_id = "test";
    join.streams = streams;
    join.force_tcp = true;
    auto fabric = ProcessFabric::Join(join, store, Deadline::After(Seconds(60)));
    ASSERT_TRUE(fabric.ok()) << fabric.status().ToString();
    auto engine = runtime::Engine::Start(std::move(*fabric), options);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    body(**engine);
    (*engine)->Shutdown();
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  for (auto& thread : threads) thread.join();
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
