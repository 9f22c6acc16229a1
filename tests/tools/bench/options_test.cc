#include "tools/bench/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::bench {
namespace {

using testing::HasSubstr;

TEST(OptionsTest, EveryOptionReachesItsField) {
  const auto parsed =
      ParseOptions({"bert",     "-np",       "4",     "--type",        "float16", "--min",
                    "1K",       "--max",     "2M",    "--factor",      "2",       "--iterations",
                    "9",        "--rounds",  "3",     "--steps",       "8",       "--warmup",
                    "0",        "--tensors", "7",     "--backward-ms", "2.5",     "--sleep",
                    "--strict", "--json",    "x.json"});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed)) << std::get<std::string>(parsed);
  const auto& o = std::get<Options>(parsed);
  EXPECT_EQ(o.mode, "bert");
  EXPECT_EQ(o.ranks, 4);
  EXPECT_EQ(o.type, "float16");
  EXPECT_EQ(o.min_bytes, 1024u);
  EXPECT_EQ(o.max_bytes, 2097152u);
  EXPECT_EQ(o.factor, 2u);
  EXPECT_EQ(o.iterations, 9u);
  EXPECT_EQ(o.rounds, 3u);
  EXPECT_EQ(o.steps, 8u);
  EXPECT_EQ(o.warmup, 0u);
  EXPECT_EQ(o.tensors, 7u);
  EXPECT_EQ(o.backward_ms, 2.5);
  EXPECT_TRUE(o.sleep);
  EXPECT_TRUE(o.strict);
  EXPECT_EQ(o.json, "x.json");
}

TEST(OptionsTest, SaysWhatIsWrong) {
  struct Case {
    std::vector<std::string> arguments;
    const char* complaint;
  };
  const Case cases[] = {
      {{"--np", "2"}, "no mode or option '--np'"},
      {{"allgather"}, "no mode or option 'allgather'"},
      {{"-np"}, "-np needs a value"},
      {{"-np", "0"}, "-np: cannot use '0'"},
      {{"-np", "21"}, "-np: cannot use '21'"},
      {{"-np", "two"}, "-np: cannot use 'two'"},
      {{"--max", "1T"}, "--max: cannot use '1T'"},
      {{"--max", "-1"}, "--max: cannot use '-1'"},
      {{"--factor", "1"}, "--factor: cannot use '1'"},
      {{"--backward-ms", "soon"}, "--backward-ms: cannot use 'soon'"},
      {{"--type", "complex64"}, "'complex64' is not one of the types"},
      {{"--min", "6"}, "--min must be a multiple of the element size, 4"},
      {{"--min", "8K", "--max", "4K"}, "--min is larger than --max"},
      {{"bert", "--mpi"}, "--mpi compares allreduce only"},
  };
  for (const auto& c : cases) {
    const auto parsed = ParseOptions(c.arguments);
    ASSERT_TRUE(std::holds_alternative<std::string>(parsed)) << c.complaint;
    EXPECT_THAT(std::get<std::string>(parsed), HasSubstr(c.complaint));
  }
}

}  // namespace
}  // namespace horovodx::bench
