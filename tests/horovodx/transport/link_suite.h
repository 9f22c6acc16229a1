// The suite that every transport passes: what link.h, mesh.h and stage.h promise.
//
// A transport's test names its grounds and instantiates the suite on them. A ground has
//   static constexpr bool kHasStage;
//   static void Run(int ranks, const std::function<void(Mesh&)>& body);
// Run executes `body` once a rank, at the same time, each with its own mesh of all ranks: on
// threads or in processes. A test that runs on processes shares no variable between ranks, so none
// here does.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/horovodx/transport/link_exchange.h"

namespace horovodx::transport::suite {

#define HVDX_ASSERT_OK(expression)                             \
  do {                                                         \
    const ::horovodx::Status hvdx_status_ = (expression);      \
    ASSERT_TRUE(hvdx_status_.ok()) << hvdx_status_.ToString(); \
  } while (false)

template <typename Ground>
class LinkSuite : public testing::Test {};
TYPED_TEST_SUITE_P(LinkSuite);

TYPED_TEST_P(LinkSuite, MeshKnowsWhoIsWhoAndItsLinksSayIt) {
  TypeParam::Run(3, [](Mesh& mesh) {
    EXPECT_EQ(mesh.size(), 3);
    EXPECT_EQ(mesh.hosts().size(), 3);
    for (int other = 0; other < mesh.size(); ++other) {
      if (other == mesh.rank()) continue;
      const std::string name = "rank " + std::to_string(other) + " (";
      EXPECT_THAT(mesh.Out(other).Describe(), testing::StartsWith(name));
      EXPECT_THAT(mesh.In(other).Describe(), testing::StartsWith(name));
    }
  });
}

// In round r every rank sends to the r-th after it and receives from the r-th before it, so every
// ordered pair is used, and each rank sends and receives at the same time.
TYPED_TEST_P(LinkSuite, EveryPairMovesBytesOfAnySizeInAnyPieces) {
  for (int ranks : {2, 3, 4}) {
    TypeParam::Run(ranks, [](Mesh& mesh) {
      std::mt19937 random(static_cast<unsigned>(mesh.rank()));
      const int n = mesh.size();
      for (std::size_t size : {0UL, 1UL, 7UL, 4096UL, 65'535UL, 65'536UL, 65'537UL, 300'007UL}) {
        for (int r = 1; r < n; ++r) {
          const int to = (mesh.rank() + r) % n;
          const int from = (mesh.rank() + n - r) % n;
          const auto out = Pattern(mesh.rank(), to, size);
          std::vector<std::byte> in(size);
          HVDX_ASSERT_OK(Exchange(mesh, to, out, from, in, random));
          ASSERT_TRUE(in == Pattern(from, mesh.rank(), size)) << size << " bytes from " << from;
        }
      }
    });
  }
}

TYPED_TEST_P(LinkSuite, TwentyMegabytesGoBothWaysAtOnce) {
  TypeParam::Run(2, [](Mesh& mesh) {
    std::mt19937 random(static_cast<unsigned>(mesh.rank()));
    const int peer = 1 - mesh.rank();
    constexpr std::size_t kBytes = 20'000'000;
    const auto out = Pattern(mesh.rank(), peer, kBytes);
    std::vector<std::byte> in(kBytes);
    HVDX_ASSERT_OK(Exchange(mesh, peer, out, peer, in, random));
    EXPECT_TRUE(in == Pattern(peer, mesh.rank(), kBytes));
  });
}

// Thousands of turns, each of which puts somebody to sleep: a lost wake-up would hang here.
TYPED_TEST_P(LinkSuite, NoWakeUpIsLostInManySmallTurns) {
  TypeParam::Run(2, [](Mesh& mesh) {
    const int peer = 1 - mesh.rank();
    for (int turn = 0; turn < 3000; ++turn) {
      if (turn % 2 == mesh.rank()) {
        HVDX_ASSERT_OK(Tell(mesh, peer));
      } else {
        HVDX_ASSERT_OK(Hear(mesh, peer));
      }
    }
  });
}

// Sleeps through every pause, and would be late if something did not wake it.
class Napper : public GiveWay {
 public:
  void Pause(Awaited& awaited) override {
    const TimePoint begin = Clock::now();
    while (!awaited.Ready()) awaited.Nap(Seconds(kPatience));
    EXPECT_LT(ToSeconds(Clock::now() - begin), kPatience / 2.0);
  }
};

TYPED_TEST_P(LinkSuite, WhoGivesWayIsWokenFromHisNaps) {
  TypeParam::Run(2, [](Mesh& mesh) {
    Napper napper;
    mesh.SetGiveWay(&napper);
    for (int turn = 0; turn < 500; ++turn) {
      if (turn % 2 == mesh.rank()) {
        HVDX_ASSERT_OK(Tell(mesh, 1 - mesh.rank()));
      } else {
        HVDX_ASSERT_OK(Hear(mesh, 1 - mesh.rank()));
      }
    }
    mesh.SetGiveWay(nullptr);
  });
}

TYPED_TEST_P(LinkSuite, InterruptEndsAWaitAndTheLinkWorksAfterwards) {
  TypeParam::Run(2, [](Mesh& mesh) {
    if (mesh.rank() == 1) {
      HVDX_ASSERT_OK(Hear(mesh, 0));  // says nothing until it is told
      HVDX_ASSERT_OK(Tell(mesh, 0));
      return;
    }
    std::thread engine(
        [&] { mesh.interrupt().Raise(Status::Cancelled("the bucket was dropped")); });
    const Status status = mesh.Await(&mesh.In(1), nullptr, Deadline::After(Seconds(kPatience)));
    engine.join();
    EXPECT_EQ(status.code(), StatusCode::kCancelled);
    EXPECT_EQ(status.message(), "the bucket was dropped");
    // Still raised: the next wait does not even begin.
    EXPECT_EQ(mesh.Await(&mesh.In(1), nullptr, Deadline::Never()).code(), StatusCode::kCancelled);
    mesh.interrupt().Clear();
    HVDX_ASSERT_OK(Tell(mesh, 1));
    HVDX_ASSERT_OK(Hear(mesh, 1));
  });
}

TYPED_TEST_P(LinkSuite, WaitingForASilentPeerEndsAtTheDeadlineAndNamesIt) {
  TypeParam::Run(2, [](Mesh& mesh) {
    if (mesh.rank() == 1) {
      HVDX_ASSERT_OK(Hear(mesh, 0));
      return;
    }
    const Status status = mesh.Await(&mesh.In(1), nullptr, Deadline::After(Seconds(0.05)));
    EXPECT_EQ(status.code(), StatusCode::kUnknown);
    EXPECT_THAT(status.message(), testing::HasSubstr("for data from rank 1 ("));
    HVDX_ASSERT_OK(Tell(mesh, 1));
  });
}

// Rank 0 writes to rank 1, which does not read, until nothing more fits. Rank 2 tells rank 1 when
// that has been noticed; then everything must still arrive.
TYPED_TEST_P(LinkSuite, WaitingForAPeerThatDoesNotReadEndsAtTheDeadlineAndNamesIt) {
  TypeParam::Run(3, [](Mesh& mesh) {
    std::mt19937 random(3);
    constexpr std::size_t kBytes = 30'000'000;
    if (mesh.rank() == 0) {
      const auto bytes = Pattern(0, 1, kBytes);
      Outgoing sending{&mesh.Out(1), &bytes};
      Status status;
      while (status.ok() && !sending.complete()) {
        const auto moved = sending.Pump(random);
        HVDX_ASSERT_OK(moved.status());
        if (moved.value() == 0) {
          status = mesh.Await(nullptr, &mesh.Out(1), Deadline::After(Seconds(0.2)));
        }
      }
      EXPECT_THAT(status.message(), testing::HasSubstr("to send to rank 1 ("));
      HVDX_ASSERT_OK(Tell(mesh, 2));
      while (!sending.complete()) {
        HVDX_ASSERT_OK(sending.Pump(random).status());
        HVDX_ASSERT_OK(mesh.Await(nullptr, &mesh.Out(1), Deadline::After(Seconds(kPatience))));
      }
      HVDX_ASSERT_OK(Hear(mesh, 1));
    } else if (mesh.rank() == 1) {
      HVDX_ASSERT_OK(Hear(mesh, 2));
      std::vector<std::byte> bytes(kBytes);
      const std::vector<std::byte> nothing;
      HVDX_ASSERT_OK(Exchange(mesh, 2, nothing, 0, bytes, random));
      EXPECT_TRUE(bytes == Pattern(0, 1, kBytes));
      HVDX_ASSERT_OK(Tell(mesh, 0));
      HVDX_ASSERT_OK(Tell(mesh, 2));
    } else {
      HVDX_ASSERT_OK(Hear(mesh, 0));
      HVDX_ASSERT_OK(Tell(mesh, 1));
      HVDX_ASSERT_OK(Hear(mesh, 1));
    }
  });
}

// Step s: each writes its slot, publishes 2s+1, waits for all, reads all slots, publishes 2s+2;
// a slot is written again only when all have read it.
TYPED_TEST_P(LinkSuite, StageShowsEveryMembersSlotsOnceItsMarkIsSeen) {
  for (int ranks : {2, 3, 4}) {
    TypeParam::Run(ranks, [](Mesh& mesh) {
      Stage* stage = mesh.stage();
      if (!TypeParam::kHasStage) {
        EXPECT_EQ(stage, nullptr);
        return;
      }
      ASSERT_NE(stage, nullptr);
      const auto& here = mesh.hosts().ranks_on(mesh.hosts().host_of(mesh.rank()));
      ASSERT_EQ(stage->size(), static_cast<int>(here.size()));
      ASSERT_EQ(here[stage->rank()], mesh.rank());
      ASSERT_GE(stage->slots(), 2);
      std::vector<std::byte> expected(stage->slot_bytes());
      for (int step = 0; step < 64; ++step) {
        const int slot = step % stage->slots();
        std::byte* mine = stage->slot(stage->rank(), slot);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine) % 64, 0u);
        std::memset(mine, step * 8 + mesh.rank(), stage->slot_bytes());
        stage->Publish(2 * step + 1);
        ASSERT_TRUE(AwaitAllAt(mesh, 2 * step + 1)) << stage->FirstBehind(2 * step + 1);
        for (int member = 0; member < stage->size(); ++member) {
          const std::byte* theirs = stage->slot(member, slot);
          std::memset(expected.data(), step * 8 + here[member], expected.size());
          ASSERT_EQ(std::memcmp(theirs, expected.data(), expected.size()), 0);
        }
        stage->Publish(2 * step + 2);
        ASSERT_TRUE(AwaitAllAt(mesh, 2 * step + 2));
      }
    });
  }
}

// Members may have counted differently when a bucket was dropped; a new epoch puts them in step.
TYPED_TEST_P(LinkSuite, MarksOfANewEpochAreAboveAllEarlierOnes) {
  TypeParam::Run(4, [](Mesh& mesh) {
    Stage* stage = mesh.stage();
    if (!TypeParam::kHasStage) return;
    ASSERT_NE(stage, nullptr);
    stage->Publish(FirstMark(0) + 1000 + static_cast<Mark>(stage->rank()) * 500);
    ASSERT_TRUE(AwaitAllAt(mesh, 1000));
    EXPECT_FALSE(stage->AllAt(FirstMark(9)));
    for (std::uint32_t epoch : {1u, 2u, 70'000u}) {
      stage->Publish(FirstMark(epoch) + 1);
      ASSERT_TRUE(AwaitAllAt(mesh, FirstMark(epoch) + 1));
      EXPECT_GE(stage->of(stage->rank()), FirstMark(epoch));
      EXPECT_EQ(stage->FirstBehind(FirstMark(epoch) + 1), -1);
    }
    EXPECT_EQ(stage->FirstBehind(FirstMark(70'001)), 0);
  });
}

REGISTER_TYPED_TEST_SUITE_P(LinkSuite, MeshKnowsWhoIsWhoAndItsLinksSayIt,
                            WhoGivesWayIsWokenFromHisNaps, EveryPairMovesBytesOfAnySizeInAnyPieces,
                            TwentyMegabytesGoBothWaysAtOnce, NoWakeUpIsLostInManySmallTurns,
                            InterruptEndsAWaitAndTheLinkWorksAfterwards,
                            WaitingForASilentPeerEndsAtTheDeadlineAndNamesIt,
                            WaitingForAPeerThatDoesNotReadEndsAtTheDeadlineAndNamesIt,
                            StageShowsEveryMembersSlotsOnceItsMarkIsSeen,
                            MarksOfANewEpochAreAboveAllEarlierOnes);

}  // namespace horovodx::transport::suite
