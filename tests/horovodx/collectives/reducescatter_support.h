// What every form of reducescatter must do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/reducescatter_contribution.h"
#include "kernels/cast.h"
#include "tests/horovodx/collectives/gather_support.h"

namespace horovodx::testing_support {

using collectives::Blocks;
using collectives::MutableBuffer;
using collectives::Reduction;

using ReducescatterCall = std::function<Status(Team&, const MutableBuffer& in, const Blocks&,
                                               const MutableBuffer& out, const Reduction&)>;
using ReducescatterCost = std::function<Traffic(const Blocks&, ElementType, int rank)>;

// Element `i` of the input of `rank`: so small that no type overflows, sums and products neither.
inline int ElementOf(ReduceOp op, int rank, std::size_t i) {
  const auto at = static_cast<int>(i % 1000);
  if (op == ReduceOp::kProduct) return rank == 0 && at % 5 == 0 ? 0 : (at + rank) % 4 == 0 ? 2 : 1;
  return (7 * at + 3 * rank) % 5;
}

inline double ExpectedAt(ElementType type, ReduceOp op, int ranks, std::size_t i) {
  std::vector<int> values;
  for (int rank = 0; rank < ranks; ++rank) values.push_back(ElementOf(op, rank, i));
  if (type == ElementType::kBool) {
    const auto none = std::count(values.begin(), values.end(), 0);
    const bool any = op == ReduceOp::kSum || op == ReduceOp::kMax;
    return any ? none < ranks : none == 0;
  }
  int result = values[0];
  for (std::size_t r = 1; r < values.size(); ++r) {
    if (op == ReduceOp::kSum) result += values[r];
    if (op == ReduceOp::kProduct) result *= values[r];
    if (op == ReduceOp::kMin) result = std::min(result, values[r]);
    if (op == ReduceOp::kMax) result = std::max(result, values[r]);
  }
  return result;
}

// Typed memory that the tests see as doubles.
class Elements {
 public:
  Elements(ElementType type, const std::vector<double>& values)
      : type_(type), count_(values.size()), memory_(count_ * SizeOf(type)) {
    kernels::Cast(type, memory_.data(), ElementType::kFloat64, values.data(), count_);
  }
  std::vector<double> values() const {
    std::vector<double> values(count_);
    kernels::Cast(ElementType::kFloat64, values.data(), type_, memory_.data(), count_);
    return values;
  }
  // In three pieces, one of them empty.
  MutableBuffer buffer() {
    const std::size_t cut = count_ / 3;
    return MutableBuffer(type_, {{At(0), cut}, {At(cut), 0}, {At(cut), count_ - cut}});
  }
  const std::vector<std::byte>& memory() const { return memory_; }

 private:
  void* At(std::size_t i) { return memory_.data() + i * SizeOf(type_); }

  ElementType type_;
  std::size_t count_;
  std::vector<std::byte> memory_;
};

inline Elements InputOf(ElementType type, ReduceOp op, int rank, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = ElementOf(op, rank, i);
  return {type, values};
}

// Runs it and checks all, also that the input is as it was; returns what it returned.
inline Status CheckedReducescatter(Team& team, ElementType type, ReduceOp op, const Blocks& blocks,
                                   const ReducescatterCall& reducescatter) {
  Elements in = InputOf(type, op, team.rank(), blocks.total());
  const std::vector<std::byte> before = in.memory();
  const auto& mine = blocks[team.rank()];
  Elements out(type, std::vector<double>(mine.size, 1.0));
  const Status status = reducescatter(team, in.buffer(), blocks, out.buffer(), {.op = op});
  EXPECT_TRUE(in.memory() == before) << "input changed";
  std::vector<double> expected(mine.size, 1.0);  // untouched, unless it succeeded
  for (std::size_t i = 0; status.ok() && i < mine.size; ++i) {
    expected[i] = ExpectedAt(type, op, team.size(), mine.offset + i);
  }
  EXPECT_TRUE(out.values() == expected)
      << "rank " << team.rank() << ", " << NameOf(type) << ", " << NameOf(op);
  return status;
}

inline void ExpectReduces(Team& team, ElementType type, ReduceOp op, const Blocks& blocks,
                          const ReducescatterCall& reducescatter, const ReducescatterCost& cost) {
  const auto sent = SentDuring(team, [&] {
    const Status status = CheckedReducescatter(team, type, op, blocks, reducescatter);
    ASSERT_TRUE(status.ok()) << status.ToString();
  });
  ExpectSent(sent, cost(blocks, type, team.rank()));
}

// Rows that divide and rows that do not, fewer rows than ranks, none at all; uneven blocks; one
// rank with everything.
inline std::vector<Blocks> ManyBlocks(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> uneven(n);
  for (std::size_t i = 0; i < n; ++i) uneven[i] = i % 3 == 1 ? 0 : 11 * i + 1;
  std::vector<std::size_t> lonely(n, 0);
  lonely[n / 2] = 3001;
  return {Blocks::Rows(0, 7, ranks),       Blocks::Rows(1, 7, ranks), Blocks::Rows(n + 2, 7, ranks),
          Blocks::Rows(3 * n, 100, ranks), Blocks::Packed(uneven),    Blocks::Packed(lonely)};
}

inline void ExpectReducesEverywhere(const ReducescatterCall& reducescatter,
                                    const ReducescatterCost& cost) {
  OnEveryTeam([&](Team& team) {
    for (const Blocks& blocks : ManyBlocks(team.size())) {
      for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProduct}) {
        ExpectReduces(team, ElementType::kFloat32, op, blocks, reducescatter, cost);
      }
    }
  });
}

inline void ExpectReducesEveryType(const ReducescatterCall& reducescatter,
                                   const ReducescatterCost& cost) {
  InProcessWorld(5, NarrowLinks()).Run([&](Team& team) {
    for (int type = 0; type < kElementTypes; ++type) {
      for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProduct}) {
        for (const Blocks& blocks : ManyBlocks(5)) {
          ExpectReduces(team, static_cast<ElementType>(type), op, blocks, reducescatter, cost);
        }
      }
    }
  });
}

// 0.5 * (3 -> 1, 5 -> 2: each is scaled and truncated by itself), then times 10.
inline void ExpectScalesEveryContributionAndTheResult(const ReducescatterCall& reducescatter) {
  InProcessWorld(2).Run([&](Team& team) {
    const double x = team.rank() == 0 ? 3 : 5;
    Elements in(ElementType::kInt32, {x, x, x});
    Elements out(ElementType::kInt32, std::vector<double>(team.rank() == 0 ? 2 : 1));
    const Reduction scaled{.op = ReduceOp::kSum, .prescale = 0.5, .postscale = 10};
    ASSERT_TRUE(reducescatter(team, in.buffer(), Blocks::Rows(3, 1, 2), out.buffer(), scaled).ok());
    EXPECT_THAT(out.values(), testing::Each(30.0));
    EXPECT_THAT(in.values(), testing::Each(x));
  });
  InProcessWorld(1).Run([&](Team& team) {
    Elements in(ElementType::kInt32, {3, 5});
    Elements out(ElementType::kInt32, {0, 0});
    const Reduction scaled{.op = ReduceOp::kSum, .prescale = 0.5, .postscale = 10};
    ASSERT_TRUE(reducescatter(team, in.buffer(), Blocks::Rows(2, 1, 1), out.buffer(), scaled).ok());
    EXPECT_THAT(out.values(), testing::ElementsAre(10.0, 20.0));
  });
}

// Floats whose sum depends on the order of adding.
inline float Awkward(int rank, std::size_t i) {
  const std::uint32_t mixed =
      (static_cast<std::uint32_t>(i) * 2654435761u) ^ (static_cast<std::uint32_t>(rank) * 40503u);
  return static_cast<float>(mixed % 100'003) * ((mixed & 64) != 0 ? 1e-4f : -3.7f);
}

// Owner c's sum is ((x_{c+1} + x_{c+2}) + ...) + x_c, to the bit, whatever the form.
inline void ExpectSumsInRankOrderBehindTheOwner(const ReducescatterCall& reducescatter) {
  for (int ranks : {3, 7, 16}) {
    InProcessWorld(ranks, NarrowLinks()).Run([&](Team& team) {
      const Blocks blocks = Blocks::Rows(1009, 3, team.size());
      std::vector<float> in(blocks.total());
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = Awkward(team.rank(), i);
      const auto& mine = blocks[team.rank()];
      std::vector<float> out(mine.size);
      ASSERT_TRUE(reducescatter(team, in, blocks, out, {}).ok());
      for (std::size_t i = 0; i < mine.size; ++i) {
        const int n = team.size();
        float sum = Awkward((team.rank() + 1) % n, mine.offset + i);
        for (int step = 2; step <= n; ++step) {
          sum += Awkward((team.rank() + step) % n, mine.offset + i);
        }
        ASSERT_EQ(out[i], sum);
      }
    });
  }
}

inline void ExpectReducescatterInterruptible(const ReducescatterCall& reducescatter) {
  for (int absent : {0, 2, 4}) {
    ExpectInterruptible(5, absent, [&](Team& team) {
      return CheckedReducescatter(team, ElementType::kFloat32, ReduceOp::kSum,
                                  Blocks::Rows(12, 500, 5), reducescatter);
    });
  }
}

inline void ExpectRefusesWhatDoesNotFit(const ReducescatterCall& reducescatter) {
  InProcessWorld(1).Run([&](Team& team) {
    std::vector<float> in(4);
    std::vector<float> out(4);
    std::vector<double> wider(4);
    const Blocks four = Blocks::Rows(4, 1, 1);
    EXPECT_THAT(reducescatter(team, in, Blocks::Rows(5, 1, 1), out, {}).message(),
                testing::HasSubstr("blocks do not fit"));
    EXPECT_THAT(reducescatter(team, in, Blocks::Rows(3, 1, 1), out, {}).message(),
                testing::HasSubstr("the output is 4 x float32"));
    EXPECT_THAT(reducescatter(team, in, four, wider, {}).message(),
                testing::HasSubstr("the output is 4 x float64"));
    EXPECT_THAT(reducescatter(team, in, four, out, {.op = ReduceOp::kAverage}).message(),
                testing::HasSubstr("cannot reduce by average"));
  });
}

}  // namespace horovodx::testing_support
