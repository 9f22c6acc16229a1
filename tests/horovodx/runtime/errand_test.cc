#include "horovodx/runtime/errand.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "horovodx/collectives/allreduce_recursive_doubling.h"
#include "tests/support/in_process_world.h"

namespace horovodx::runtime {
namespace {

using collectives::MutableBuffer;
using collectives::Team;
using testing_support::InProcessWorld;
using transport::Mesh;

// An allreduce of ones, to be run by an errand or not.
class Sum {
 public:
  explicit Sum(Mesh& mesh) : team_(mesh) { team_.SetTimeLimit(Seconds(60)); }
  Status Run() {
    const MutableBuffer buffer(ElementType::kFloat32, values_.data(), values_.size());
    return collectives::AllreduceRecursiveDoubling(team_, buffer, ReduceOp::kSum);
  }
  float value() const { return values_.back(); }

 private:
  Team team_;
  std::vector<float> values_ = std::vector<float>(100, 1.0f);
};

Status StepToTheEnd(Errand& errand) {
  Status status;
  while (true) {
    if (errand.ready() && errand.Step(status)) return status;
    std::this_thread::yield();
  }
}

// A peer that takes part when it is told to.
void ComeLate(Mesh& mesh, const std::atomic<bool>& now) {
  Sum sum(mesh);
  while (!now) std::this_thread::yield();
  EXPECT_TRUE(sum.Run().ok());
}

TEST(ErrandTest, RunsBesideWhateverElseItsThreadDoes) {
  for (const int ranks : {2, 3, 4}) {
    InProcessWorld world(ranks);
    world.RunOnMesh([&](Mesh& mesh) {
      Errand errand;
      for (int i = 0; i < 50; ++i) {
        Sum sum(mesh);
        EXPECT_FALSE(errand.active());
        ASSERT_TRUE(errand.Start(mesh, [&] { return sum.Run(); }));
        EXPECT_TRUE(errand.active());
        EXPECT_TRUE(StepToTheEnd(errand).ok());
        EXPECT_EQ(sum.value(), static_cast<float>(ranks));
      }
    });
  }
}

TEST(ErrandTest, WaitsForALatePeerWithoutHoldingItsThread) {
  InProcessWorld world(2);
  std::atomic<bool> looked{false};
  world.RunOnMesh([&](Mesh& mesh) {
    if (mesh.rank() == 1) return ComeLate(mesh, looked);
    Sum sum(mesh);
    Errand errand;
    ASSERT_TRUE(errand.Start(mesh, [&] { return sum.Run(); }));
    EXPECT_FALSE(errand.ready());
    EXPECT_FALSE(errand.ready());
    looked = true;
    EXPECT_TRUE(StepToTheEnd(errand).ok());
    EXPECT_EQ(sum.value(), 2.0f);
  });
}

TEST(ErrandTest, NapsUntilAPeerComesOrItIsTime) {
  InProcessWorld world(2);
  std::atomic<bool> now{false};
  world.RunOnMesh([&](Mesh& mesh) {
    if (mesh.rank() == 1) return ComeLate(mesh, now);
    Sum sum(mesh);
    Errand errand;
    ASSERT_TRUE(errand.Start(mesh, [&] { return sum.Run(); }));
    errand.Nap(std::chrono::milliseconds(1));
    EXPECT_FALSE(errand.ready());
    now = true;
    const TimePoint begin = Clock::now();
    Status status;
    while (!errand.ready() || !errand.Step(status)) errand.Nap(Seconds(60));
    EXPECT_LT(ToSeconds(Clock::now() - begin), 30.0);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(sum.value(), 2.0f);
  });
}

TEST(ErrandTest, AnotherThreadMayRunItToItsEnd) {
  InProcessWorld world(2);
  std::atomic<bool> moved{false};
  world.RunOnMesh([&](Mesh& mesh) {
    if (mesh.rank() == 1) return ComeLate(mesh, moved);
    Sum sum(mesh);
    Errand errand;
    ASSERT_TRUE(errand.Start(mesh, [&] { return sum.Run(); }));
    std::thread lane([&] {
      moved = true;
      EXPECT_TRUE(errand.Complete().ok());
    });
    lane.join();
    EXPECT_FALSE(errand.active());
    EXPECT_EQ(sum.value(), 2.0f);
    // And the mesh is as before: who waits on it, sleeps.
    EXPECT_TRUE(mesh.interrupt().Check().ok());
  });
}

TEST(ErrandTest, AnInterruptEndsIt) {
  InProcessWorld world(2);
  world.RunOnMesh([&](Mesh& mesh) {
    if (mesh.rank() == 1) return;  // never comes
    Sum sum(mesh);
    Errand errand;
    ASSERT_TRUE(errand.Start(mesh, [&] { return sum.Run(); }));
    EXPECT_FALSE(errand.ready());
    mesh.interrupt().Raise(Status::Cancelled("enough"));
    EXPECT_EQ(StepToTheEnd(errand).code(), StatusCode::kCancelled);
    EXPECT_FALSE(errand.active());
  });
}

}  // namespace
}  // namespace horovodx::runtime
