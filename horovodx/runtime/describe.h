// What rank 0 knows about allreduces, in words: JSON for programs, a table for people. Pure.
#pragma once

#include <string>

#include "horovodx/negotiation/algorithm_choice.h"
#include "horovodx/negotiation/plan_meter.h"

namespace horovodx::runtime {

// What there is to know about one set. On a stage the user's rules count too.
struct KnownCosts {
  const negotiation::AlgorithmChoice& choice;
  const negotiation::PlanMeter& meter;
  bool on_stage = false;  // ranks of one host, through memory that they share
};

// "allreduce_selection": {"ranks": 4, "on_stage": false, "samples": 120, "table": [{"from": 0,
// "to": 8192, "algorithm": "ring", "why": "measured", "seconds": 1e-05}, ...]}; "to" is null in the
// last row, and on a stage what runs there is "staged", because of "one host".
// "allreduce_selection_table": the same to read. "allreduce_costs": {"samples": 120, "levels":
// {"host": {"latency": s, "seconds_per_byte": s}, "net": ...}, "algorithms": {"ring": [{"bytes": n,
// "seconds": s}, ...], ...}}; an algorithm's times by size, "staged" being that of the stage. Empty
// for any other word.
std::string Describe(const std::string& what, const KnownCosts& known);

}  // namespace horovodx::runtime
