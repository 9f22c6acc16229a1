#include "horovodx/collectives/allreduce_staged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "kernels/cast.h"
#include "tests/horovodx/collectives/staged_driver.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;

constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProduct};
constexpr StageOptions Always(StageWay way) {
  return {.segment_bytes = 4096,
          .sliced_segment_bytes = 4096,
          .streaming_from_bytes = 8192,
          .way = way};
}
const StageOptions kEveryWay[] = {Always({}), Always({.past_cache = true}),
                                  Always({.by_slices = true}),
                                  Always({.by_slices = true, .past_cache = true})};

bool IsInteger(ElementType type) {
  return type != ElementType::kFloat16 && type != ElementType::kBfloat16 &&
         type != ElementType::kFloat32 && type != ElementType::kFloat64;
}

bool IsSigned(ElementType type) {
  return type != ElementType::kUint8 && type != ElementType::kUint16 && type != ElementType::kBool;
}

// What rank `rank` puts in at `i`: small whole numbers, exact in every type, also added up.
double ValueAt(ElementType type, ReduceOp op, int rank, std::size_t i) {
  const auto mixed = static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 13) % 11);
  if (type == ElementType::kBool) return mixed > 7 ? 1 : 0;
  if (op == ReduceOp::kProduct) return mixed == 0 ? 2 : 1;
  return IsSigned(type) ? mixed - 5 : mixed;
}

double Scaled(ElementType type, double value, double factor) {
  return IsInteger(type) ? std::trunc(value * factor) : value * factor;
}

double Combined(ReduceOp op, double a, double b) {
  if (op == ReduceOp::kMin) return std::min(a, b);
  if (op == ReduceOp::kMax) return std::max(a, b);
  return op == ReduceOp::kSum ? a + b : a * b;
}

// One rank's part of a bucket: its memory, cut into pieces at random.
class Bucket {
 public:
  struct Shape {
    ElementType type = ElementType::kFloat32;
    ReduceOp op = ReduceOp::kSum;
    std::size_t count = 0;
    double prescale = 1;
    double postscale = 1;
    bool in_place = false;
    std::size_t most_per_piece = 0;  // 0: one piece
    unsigned seed = 0;               // of the cuts; ranks may cut differently
    int null_rank = -1;              // contributes nothing and wants nothing
  };

  Bucket(const Shape& shape, int rank, int ranks) : shape_(shape), rank_(rank), ranks_(ranks) {
    const std::size_t size = SizeOf(shape.type);
    input_ = Encoded([&](std::size_t i) { return ValueOf(rank_, i); });
    output_.assign(shape.in_place ? 0 : input_.size(), std::byte{0x5a});
    const bool null = rank == shape.null_rank;
    Cut(null ? nullptr : input_.data(), size, input_pieces_);
    Cut(null ? nullptr : Result().data(), size, output_pieces_);
  }

  StagedTensors tensors() const {
    return {shape_.type,      shape_.op,     shape_.prescale,
            shape_.postscale, input_pieces_, output_pieces_};
  }

  ::testing::AssertionResult IsRight() {
    if (rank_ == shape_.null_rank) return ::testing::AssertionSuccess();
    const auto expected = Encoded([&](std::size_t i) { return SumAt(i); });
    if (Result() == expected) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << NameOf(shape_.type) << " " << NameOf(shape_.op) << " of " << shape_.count
           << " on rank " << rank_ << " of " << ranks_;
  }

 private:
  std::vector<std::byte>& Result() { return shape_.in_place ? input_ : output_; }

  double ValueOf(int rank, std::size_t i) const {
    return rank == shape_.null_rank ? 0 : ValueAt(shape_.type, shape_.op, rank, i);
  }

  double SumAt(std::size_t i) const {
    double sum = Scaled(shape_.type, ValueOf(0, i), shape_.prescale);
    for (int rank = 1; rank < ranks_; ++rank) {
      sum = Combined(shape_.op, sum, Scaled(shape_.type, ValueOf(rank, i), shape_.prescale));
    }
    return Scaled(shape_.type, sum, shape_.postscale);
  }

  template <typename Value>
  std::vector<std::byte> Encoded(Value value) const {
    std::vector<double> plain(shape_.count);
    for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = value(i);
    std::vector<std::byte> bytes(shape_.count * SizeOf(shape_.type));
    kernels::Cast(shape_.type, bytes.data(), ElementType::kFloat64, plain.data(), plain.size());
    return bytes;
  }

  void Cut(std::byte* data, std::size_t size, std::vector<kernels::Piece>& pieces) const {
    std::mt19937 random(shape_.seed);
    for (std::size_t left = shape_.count; left > 0;) {
      std::size_t count = left;
      if (shape_.most_per_piece > 0) count = std::min(left, random() % (shape_.most_per_piece + 1));
      pieces.push_back({data, count});
      if (data != nullptr) data += count * size;
      left -= count;
    }
  }

  Shape shape_;
  int rank_;
  int ranks_;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
  std::vector<kernels::Piece> input_pieces_;
  std::vector<kernels::Piece> output_pieces_;
};

// Runs the shapes one right after the other on every rank.
void ExpectRight(int ranks, const StageOptions& options, const std::vector<Bucket::Shape>& shapes) {
  InProcessWorld world(ranks);
  world.RunOnMesh([&](transport::Mesh& mesh) {
    StagePipe pipe(*mesh.stage(), options);
    for (const Bucket::Shape& shape : shapes) {
      Bucket bucket(shape, mesh.rank(), ranks);
      const Status status = RunStaged(pipe, mesh.bell(), bucket.tensors());
      ASSERT_TRUE(status.ok()) << "rank " << mesh.rank() << " " << status.message();
      ASSERT_TRUE(bucket.IsRight());
    }
  });
}

class AllreduceStagedByRanksTest : public ::testing::TestWithParam<int> {};
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kMostRanks = 9;  // a rank is a thread, and they are slow here
#else
constexpr int kMostRanks = 17;
#endif
INSTANTIATE_TEST_SUITE_P(Ranks, AllreduceStagedByRanksTest, ::testing::Range(1, kMostRanks + 1));

TEST_P(AllreduceStagedByRanksTest, EveryTypeAndOpAtEveryCount) {
  std::vector<Bucket::Shape> shapes;
  for (int type = 0; type < kElementTypes; ++type) {
    for (ReduceOp op : kOps) {
      for (std::size_t count : {0, 1, 7, 513, 5003}) {
        Bucket::Shape shape{.type = static_cast<ElementType>(type), .op = op, .count = count};
        shape.in_place = count % 2 == 1;
        shapes.push_back(shape);
      }
    }
  }
  for (const StageOptions& options : kEveryWay) ExpectRight(GetParam(), options, shapes);
}

TEST_P(AllreduceStagedByRanksTest, PiecesMayBeCutAnywhereAndScaled) {
  std::vector<Bucket::Shape> shapes;
  unsigned seed = 0;
  for (ElementType type : {ElementType::kFloat32, ElementType::kInt64, ElementType::kInt8,
                           ElementType::kFloat16, ElementType::kFloat64}) {
    for (std::size_t most : {3, 100, 4000}) {
      for (int null_rank : {-1, 0}) {
        Bucket::Shape shape{.type = type, .count = 6001 + seed, .most_per_piece = most};
        shape.prescale = seed % 3 == 0 ? 1.0 : 0.5;
        shape.postscale = seed % 2 == 0 ? 1.0 : 0.25;
        shape.in_place = seed % 4 < 2;
        shape.null_rank = GetParam() > 1 ? null_rank : -1;
        shape.seed = seed++;
        shapes.push_back(shape);
      }
    }
  }
  for (const StageOptions& options : kEveryWay) ExpectRight(GetParam(), options, shapes);
}

// Without barriers between them, so that slots are used again while others still read them.
TEST_P(AllreduceStagedByRanksTest, HundredsOfBucketsOfRandomSizeBackToBack) {
  std::mt19937 random(17);
  std::vector<Bucket::Shape> shapes;
  for (unsigned i = 0; i < 300; ++i) {
    const std::size_t most = 1U << (random() % 15);
    shapes.push_back({.count = random() % most, .in_place = i % 2 == 0, .seed = i});
    if (random() % 2 == 0) shapes.back().most_per_piece = 1 + random() % 2000;
  }
  ExpectRight(GetParam(), Always({.by_slices = true, .past_cache = true}), shapes);
}

// Ways are tried in turn and then chosen, in several classes of sizes at once. Who took another
// way than the others would wait for marks that never come.
TEST_P(AllreduceStagedByRanksTest, WaysAreTriedAndChosenByAllAlike) {
  std::mt19937 random(18);
  std::vector<Bucket::Shape> shapes;
  for (unsigned i = 0; i < 400; ++i) {
    const std::size_t count = (std::size_t{64} << (random() % 10)) + random() % 64;
    shapes.push_back({.count = count, .in_place = i % 3 == 0, .seed = i});
    if (random() % 2 == 0) shapes.back().most_per_piece = 1 + random() % 3000;
  }
  ExpectRight(GetParam(), {.segment_bytes = 16384, .sliced_segment_bytes = 16384}, shapes);
}

TEST(AllreduceStagedTest, FloatsAreAddedInRankOrderHoweverTheBucketIsCut) {
  constexpr int kRanks = 5;
  constexpr std::size_t kCount = 20'011;
  const auto value = [](int rank, std::size_t i) {
    std::mt19937 random(static_cast<unsigned>(i * 31) + static_cast<unsigned>(rank));
    return std::ldexp(static_cast<float>(random()), -static_cast<int>(random() % 60));
  };
  std::vector<float> expected(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    expected[i] = value(0, i);
    for (int rank = 1; rank < kRanks; ++rank) expected[i] += value(rank, i);
  }
  for (const StageOptions& options : kEveryWay) {
    InProcessWorld world(kRanks);
    world.RunOnMesh([&](transport::Mesh& mesh) {
      StagePipe pipe(*mesh.stage(), options);
      std::vector<float> x(kCount);
      for (std::size_t i = 0; i < kCount; ++i) x[i] = value(mesh.rank(), i);
      const std::vector<kernels::Piece> pieces{{x.data(), 4097}, {x.data() + 4097, kCount - 4097}};
      StagedTensors tensors;
      tensors.input = tensors.output = pieces;
      ASSERT_TRUE(RunStaged(pipe, mesh.bell(), tensors).ok());
      EXPECT_EQ(x, expected);
    });
  }
}

TEST(AllreduceStagedTest, RanksThatComeAndGoAtRandomTimesAgree) {
  InProcessWorld world(4);
  for (const StageOptions& options : kEveryWay) {
    world.RunOnMesh([&](transport::Mesh& mesh) {
      StagePipe pipe(*mesh.stage(), options);
      std::mt19937 random(static_cast<unsigned>(mesh.rank()));
      for (unsigned turn = 0; turn < 60; ++turn) {
        Bucket bucket({.count = turn * 100, .in_place = true}, mesh.rank(), mesh.size());
        StagedAllreduce operation(pipe, bucket.tensors());
        const Deadline deadline = Deadline::After(Seconds(30));
        while (operation.Advance() != StagedAllreduce::Progress::kDone) {
          ASSERT_FALSE(deadline.Passed()) << "waits for " << operation.waiting_for();
          if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        ASSERT_TRUE(bucket.IsRight());
      }
    });
  }
}

TEST(AllreduceStagedTest, EmptyBucketEndsOnlyWhenAllHaveStartedIt) {
  InProcessWorld world(2);
  std::atomic<bool> seen_blocked{false};
  world.RunOnMesh([&](transport::Mesh& mesh) {
    StagePipe pipe(*mesh.stage());
    if (mesh.rank() == 0) {
      StagedAllreduce operation(pipe, {});
      EXPECT_EQ(operation.Advance(), StagedAllreduce::Progress::kMoved);
      EXPECT_EQ(operation.Advance(), StagedAllreduce::Progress::kBlocked);
      EXPECT_EQ(operation.waiting_for(), 1);
      seen_blocked = true;
      EXPECT_TRUE(Finish(operation, mesh.bell()).ok());
    } else {
      const Deadline deadline = Deadline::After(Seconds(30));
      while (!seen_blocked && !deadline.Passed()) std::this_thread::yield();
      EXPECT_TRUE(RunStaged(pipe, mesh.bell(), {}).ok());
    }
  });
}

// The memory is only at the end; what goes before is zeros that nobody wants.
TEST(AllreduceStagedTest, OffsetsBeyondTwoGibibytesAreRight) {
  InProcessWorld world(2);
  world.RunOnMesh([&](transport::Mesh& mesh) {
    StagePipe pipe(*mesh.stage(), {});
    std::vector<std::uint8_t> tail(100'000, static_cast<std::uint8_t>(mesh.rank() + 1));
    const std::vector<kernels::Piece> pieces{{nullptr, (std::size_t{1} << 31) + 77},
                                             {tail.data(), tail.size()}};
    StagedTensors tensors;
    tensors.type = ElementType::kUint8;
    tensors.input = tensors.output = pieces;
    ASSERT_TRUE(RunStaged(pipe, mesh.bell(), tensors).ok());
    EXPECT_EQ(tail, std::vector<std::uint8_t>(tail.size(), 3));
  });
}

}  // namespace
}  // namespace horovodx::collectives
