// A Coordinator of two ranks, and what it is told and says.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/negotiation/coordinator.h"
#include "tests/horovodx/negotiation/request_maker.h"

namespace horovodx::negotiation {

class CoordinatorTest : public testing::Test {
 protected:
  void Make() { coordinator = std::make_unique<Coordinator>(options); }
  void SetUp() override {
    options.size = 2;
    Make();
  }
  void Say(int from, UpMessage message) { coordinator->OnMessage(from, message, AtSecond(second)); }
  void Ask(int from, const std::vector<Request>& requests, std::uint32_t epoch = 0,
           std::int32_t set = 0) {
    Say(from, Ready{set, epoch, requests, {}, 0});
  }
  void AskBoth(const std::vector<Request>& requests, std::uint32_t epoch = 0) {
    Ask(0, requests, epoch);
    Ask(1, requests, epoch);
  }
  // The messages of this kind among those sent since the last call.
  template <typename Message>
  std::vector<Message> Take() {
    std::vector<Message> found;
    for (const Outgoing& record : coordinator->TakeMessages()) {
      if (const auto* message = std::get_if<Message>(&record.message)) found.push_back(*message);
    }
    return found;
  }
  std::vector<std::string> NamesRun() {
    std::vector<std::string> names;
    for (const negotiation::Run& run : Take<negotiation::Run>()) {
      for (const Bucket& bucket : run.buckets) {
        for (const Entry& entry : bucket.entries) names.push_back(entry.name);
      }
    }
    return names;
  }
  // Three equal steps of a and b; the first name of the fourth starts a plan.
  StartPlan ReachPlan(std::uint32_t epoch = 0, int most_steps = 60) {
    std::vector<StartPlan> plans;
    for (int step = 0; step < most_steps && plans.empty(); ++step) {
      AskBoth({MakeRequest("a"), MakeRequest("b")}, epoch);
      plans = Take<StartPlan>();
    }
    EXPECT_EQ(plans.size(), 1u);
    return plans.empty() ? StartPlan{} : plans[0];
  }

  double second = 0;
  CoordinatorOptions options;
  std::unique_ptr<Coordinator> coordinator;
};

}  // namespace horovodx::negotiation
