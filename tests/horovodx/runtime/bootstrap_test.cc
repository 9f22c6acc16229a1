// What autotuning may change: whoever has set a variable has fixed it.
#include "horovodx/runtime/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace horovodx::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Environment = std::map<std::string, std::string>;

struct Made {
  Config config;
  EngineOptions options;

  const tuning::Freedom& free() const { return options.autotune.search.free; }
  const tuning::Setting& first() const { return options.autotune.search.first; }
};

Made From(const Environment& environment) {
  auto config = ReadConfig([&](const char* name) {
    const auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  });
  EXPECT_TRUE(config.ok()) << config.status().ToString();
  auto options = OptionsFrom(*config, {});
  EXPECT_TRUE(options.ok()) << options.status().ToString();
  return {*config, *options};
}

TEST(BootstrapTest, WithoutAutotuneNothingIsOpenedToChooseFrom) {
  const Made made = From({});
  EXPECT_FALSE(made.options.autotune.enabled);
  EXPECT_EQ(StreamsToOpen(made.config), 1);
  EXPECT_EQ(made.options.segment, 0u);
}

TEST(BootstrapTest, WithNothingSetEverythingIsFree) {
  const Made made = From({{"HOROVOD_AUTOTUNE", "1"}});
  EXPECT_THAT(made.free().schedules, ElementsAre("fusion", "optimal"));
  EXPECT_TRUE(made.free().fusion_threshold);
  EXPECT_TRUE(made.free().segment);
  EXPECT_EQ(made.free().most_streams, 4);
  EXPECT_EQ(StreamsToOpen(made.config), 4);
  EXPECT_EQ(made.first().segment, 0u);
  EXPECT_EQ(made.first().streams, 1) << "as without tuning";
}

TEST(BootstrapTest, WhatIsSetIsFixed) {
  const Made segment = From({{"HOROVOD_AUTOTUNE", "1"}, {"HOROVODX_SEGMENT", "1048576"}});
  EXPECT_FALSE(segment.free().segment);
  EXPECT_EQ(segment.first().segment, 1u << 20);
  EXPECT_EQ(segment.options.segment, 1u << 20);
  EXPECT_EQ(segment.free().most_streams, 4);

  for (const int streams : {1, 2, 8}) {
    const Made made =
        From({{"HOROVOD_AUTOTUNE", "1"}, {"HOROVODX_STREAMS", std::to_string(streams)}});
    EXPECT_EQ(made.free().most_streams, 1) << "nothing to choose from";
    EXPECT_EQ(made.first().streams, streams);
    EXPECT_EQ(StreamsToOpen(made.config), streams);
    EXPECT_TRUE(made.free().segment);
  }

  const Made cut = From({{"HOROVOD_AUTOTUNE", "1"},
                         {"HOROVODX_SCHEDULE", "optimal"},
                         {"HOROVOD_FUSION_THRESHOLD", "1000"}});
  EXPECT_THAT(cut.free().schedules, IsEmpty());
  EXPECT_FALSE(cut.free().fusion_threshold);
  EXPECT_EQ(cut.first().schedule, "optimal");
  EXPECT_EQ(cut.first().fusion_threshold, 1000u);
}

TEST(BootstrapTest, FlagsOfAlgorithmsSayYesNoOrNothing) {
  const Made nothing = From({});
  EXPECT_EQ(nothing.options.execute.hierarchical, std::nullopt);
  EXPECT_EQ(nothing.options.execute.torus, std::nullopt);
  EXPECT_FALSE(nothing.options.hierarchical_allgather);
  const Made said = From({{"HOROVOD_HIERARCHICAL_ALLREDUCE", "0"},
                          {"HOROVOD_TORUS_ALLREDUCE", "1"},
                          {"HOROVOD_HIERARCHICAL_ALLGATHER", "1"}});
  EXPECT_EQ(said.options.execute.hierarchical, false);
  EXPECT_EQ(said.options.execute.torus, true);
  EXPECT_TRUE(said.options.hierarchical_allgather);
}

}  // namespace
}  // namespace horovodx::runtime
