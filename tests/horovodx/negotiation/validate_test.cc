#include "horovodx/negotiation/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/horovodx/negotiation/request_maker.h"

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ValidateOptions kOptions{{3, 5}, 1000};

struct Mistake {
  Kind kind;
  std::function<void(Request& a, Request& b)> make;
  const char* fragment;
};

class ValidateMistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(ValidateMistakeTest, SaysWhatDoesNotFit) {
  Request a = MakeRequest("x", GetParam().kind);
  Request b = a;
  GetParam().make(a, b);
  const Bucket bucket = Validate(Shared({a, b}), kOptions);
  EXPECT_EQ(bucket.kind, Kind::kError);
  EXPECT_EQ(bucket.error.code(), StatusCode::kPrecondition);
  EXPECT_THAT(bucket.error.message(), HasSubstr(GetParam().fragment));
  EXPECT_EQ(bucket.entries.at(0).name, "x");
}

INSTANTIATE_TEST_SUITE_P(
    All, ValidateMistakeTest,
    testing::Values(
        Mistake{Kind::kAllreduce, [](Request&, Request& b) { b.type = ElementType::kFloat64; },
                "Mismatched data types: One rank had type float32, but another rank had type "
                "float64."},
        Mistake{Kind::kAllreduce, [](Request&, Request& b) { b.kind = Kind::kAllgather; },
                "Mismatched operations: One rank did an ALLREDUCE, but another rank did an "
                "ALLGATHER"},
        Mistake{Kind::kAllreduce, [](Request&, Request& b) { b.shape = {4}; },
                "Mismatched ALLREDUCE tensor shapes: One rank sent a tensor of shape [4, 2], but "
                "another rank sent a tensor of shape [4]"},
        Mistake{Kind::kReducescatter, [](Request&, Request& b) { b.shape = {4}; },
                "Mismatched REDUCESCATTER tensor shapes: One rank sent a tensor of shape"},
        Mistake{Kind::kBroadcast, [](Request&, Request& b) { b.shape = {4}; },
                "Mismatched BROADCAST tensor shapes: One rank sent a tensor of shape"},
        Mistake{Kind::kAllgather, [](Request&, Request& b) { b.shape = {4}; },
                "Mismatched ALLGATHER tensor shapes: One rank sent a tensor of rank 2"},
        Mistake{Kind::kAlltoall, [](Request&, Request& b) { b.shape[1] = 3; },
                "with dimension 1 equal to 2"},
        Mistake{Kind::kAllreduce, [](Request&, Request& b) { b.postscale = 2; },
                "Mismatched prescale and/or postscale factors"},
        Mistake{Kind::kAllreduce, [](Request&, Request& b) { b.op = ReduceOp::kMin; },
                "Mismatched reduction operation"},
        Mistake{Kind::kBroadcast, [](Request&, Request& b) { b.root = 1; },
                "Mismatched BROADCAST root ranks: One rank named root rank 3, but another rank "
                "named root rank 5"},
        Mistake{Kind::kBroadcast, [](Request& a, Request& b) { a.root = b.root = 2; },
                "broadcast received invalid root rank 2"},
        Mistake{Kind::kAllreduce, [](Request&, Request& b) { b.device = 0; },
                "Mismatched ALLREDUCE CPU/GPU device selection"},
        Mistake{Kind::kAllgather,
                [](Request& a, Request& b) {
                  a.shape.clear();
                  b.shape.clear();
                },
                "Process-set rank zero tried to ALLGATHER a rank-zero tensor"},
        Mistake{Kind::kReducescatter,
                [](Request& a, Request& b) {
                  a.prescale = b.prescale = 2;
                  a.shape = b.shape = {251};
                },
                "increase HOROVOD_FUSION_THRESHOLD"},
        Mistake{Kind::kAllreduce, [](Request& a, Request& b) { a.shape = b.shape = {-1}; },
                "shape [-1]"},
        Mistake{Kind::kAllreduce,
                [](Request& a, Request& b) {
                  a.shape = b.shape = {1LL << 40, 1LL << 40};
                },
                "Impossible tensor shape"},
        // The first failure in the order of checks is the one reported.
        Mistake{Kind::kAllreduce,
                [](Request&, Request& b) {
                  b.type = ElementType::kInt32;
                  b.kind = Kind::kAllgather;
                  b.shape = {1};
                },
                "Mismatched data types"}));

TEST(ValidateTest, AMistakeNamesTheRanksThatDiffer) {
  const auto request = [](std::vector<std::int64_t> shape) {
    return MakeRequest("x", Kind::kAllreduce, std::move(shape));
  };
  const auto error = [&](const Requests& requests, std::vector<std::int32_t> ranks) {
    return Validate(requests, {std::move(ranks), 1000}).error.message();
  };
  EXPECT_THAT(error(Shared({request({4}), request({4}), request({5})}), {0, 2, 7}),
              HasSubstr("shape [5]. Tensor 'x': rank 0 against rank 7."));
  // Who has joined asks for nothing.
  const Requests three = Shared({request({4}), request({5}), request({6})});
  EXPECT_THAT(error({nullptr, three[0], three[1], three[2]}, {0, 2, 7, 9}),
              HasSubstr("shape [5]. Tensor 'x': rank 2 against ranks 7, 9."));
  std::vector<Request> many{request({4})};
  std::vector<std::int32_t> ranks{0};
  for (int i = 1; i <= 10; ++i) {
    many.push_back(request({5}));
    ranks.push_back(i);
  }
  EXPECT_THAT(error(Shared(many), ranks),
              HasSubstr("against ranks 1, 2, 3, 4, 5, 6, 7, 8 and 2 more."));
}

TEST(ValidateTest, GathersKnowEveryMembersRows) {
  const Bucket bucket = Validate(Shared({MakeRequest("x", Kind::kAllgather, {3, 2}),
                                         MakeRequest("x", Kind::kAllgather, {0, 2})}),
                                 kOptions);
  EXPECT_EQ(bucket.kind, Kind::kAllgather);
  EXPECT_THAT(bucket.entries.at(0).first_dims, ElementsAre(3, 0));
}

TEST(ValidateTest, WhileSomebodyHasJoinedOnlyAllreducesWork) {
  for (Kind kind : {Kind::kAllreduce, Kind::kAdasum}) {
    EXPECT_EQ(Validate({nullptr, Shared({MakeRequest("x", kind)})[0]}, kOptions).kind, kind);
  }
  const auto error = [](Kind kind) {
    return Validate({nullptr, Shared({MakeRequest("x", kind)})[0]}, kOptions).error.message();
  };
  EXPECT_THAT(error(Kind::kAllgather), HasSubstr("Allgather is not supported with Join"));
  EXPECT_THAT(error(Kind::kBroadcast), HasSubstr("Broadcast is not supported with Join"));
  EXPECT_THAT(error(Kind::kAlltoall), HasSubstr("Alltoall is not supported with Join"));
  EXPECT_THAT(error(Kind::kReducescatter), HasSubstr("Reducescatter is not supported with Join"));
}

}  // namespace
}  // namespace horovodx::negotiation
