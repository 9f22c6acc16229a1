#include "tools/sim/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace horovodx::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Answer(const std::string& script) {
  std::istringstream in(script);
  std::ostringstream out;
  const Status status = RunScript(in, out);
  return status.ok() ? out.str() : "wrong: " + status.message();
}

// T = 3 + bytes on two hosts: a ring of two takes two steps of half the bytes each.
std::string Worked(const std::string& run) {
  std::string script = "forward 4\nlayer 2 1\nlayer 2 1\nlayer 2 8\nnet 1.5 1\nwindows 0\n";
  return Answer(script.append(run));
}

TEST(ScriptTest, RunsTheWorkedExample) {
  EXPECT_EQ(Worked("run optimal ring 2 1 0\n"),
            "run 22 12 16 2\n"
            "bucket 0 1 0 8 2 2 13 ring 0 0\n"
            "bucket 1 3 2 2 6 13 18 ring 0 0\n");
  EXPECT_THAT(Worked("run wfbp ring 2 1 0\n"), StartsWith("run 25 15 19 3"));
  EXPECT_THAT(Worked("run wfbp ring 1 1 0\n"), StartsWith("run 10 0 0 3"));
}

TEST(ScriptTest, TensorsComeWithTheirTimes) {
  EXPECT_EQ(Answer("tensor 2 8\ntensor 4 1\ntensor 6 1\ntail 1\nnet 1.5 1\nwindows 0\n"
                   "run optimal ring 2 1 0\n"),
            "run 18 11 16 2\n"
            "bucket 0 1 0 8 2 2 13 ring 0 0\n"
            "bucket 1 3 2 2 6 13 18 ring 0 0\n");
}

TEST(ScriptTest, SamplesAreFitted) {
  EXPECT_EQ(Answer("sample 100 3\nsample 300 5\nfit\ncost fitted 1 1 200\n"),
            "piece 0 2 0.01\ncost 4 0 0 0 0 fitted\n");
}

TEST(ScriptTest, CostsAreTold) {
  EXPECT_EQ(Answer("net 0.5 0.25\ncost ring 4 1 400\n"), "cost 153 0 6 0 600 ring\n");
}

TEST(ScriptTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(Answer("forward 1\nlayer 1 x\n"),
            "wrong: line 2: bytes: 'x' is not a whole number from 0 to 1125899906842624");
  EXPECT_EQ(Answer("layer -1 5"),
            "wrong: line 1: backward time: '-1' is not a number of seconds from 0 to 1e9");
  EXPECT_THAT(Answer("forward nan"), HasSubstr("'nan'"));
  EXPECT_EQ(Answer("forward"), "wrong: line 1: forward: is missing");
  EXPECT_EQ(Answer("forward 1 2"), "wrong: line 1: line: '2' is too much");
  EXPECT_EQ(Answer("fly 1"), "wrong: line 1: line: no word 'fly' is known");
  EXPECT_THAT(Answer("run best ring 2 1 0"), HasSubstr("no schedule 'best'"));
  EXPECT_THAT(Answer("run wfbp rings 2 1 0"), HasSubstr("'rings'"));
  EXPECT_THAT(Answer("run wfbp ring 0 1 0"), HasSubstr("hosts: '0'"));
  EXPECT_THAT(Answer("run wfbp ring 9999999 99999 0"), HasSubstr("100 million"));
  EXPECT_THAT(Answer("rules circle:1-2"), HasSubstr("circle"));
  EXPECT_THAT(Answer("layer 1 1\ntensor 1 1\nrun wfbp ring 2 1 0"), HasSubstr("both"));
}

TEST(ScriptTest, GarbageIsRefusedOrAnsweredButNeverMore) {
  const std::string alphabet = "run layer tensor cost fit rules 0123456789 .-e\n\t:;K";
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int k = 0; k < 60; ++k) text += alphabet[random() % alphabet.size()];
    Answer(text);
  }
}

}  // namespace
}  // namespace horovodx::sim
