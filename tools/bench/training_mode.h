// Modes `small`, `resnet50`, `bert`: the gradients of a training step become ready one after the
// other, last layer first, and are summed while the rest is computed.
#pragma once

#include "tools/bench/engine.h"
#include "tools/bench/models.h"
#include "tools/bench/options.h"
#include "tools/bench/report.h"

namespace horovodx::bench {

// All ranks. Rank 0 prints and fills the report.
void RunTrainingMode(const Options& options, const Model& model, Engine& engine, Report& report);

}  // namespace horovodx::bench
