#include "horovodx/runtime/tuning_log.h"

#include <cerrno>
#include <cstring>

#include "horovodx/base/log.h"
#include "horovodx/tuning/csv.h"

namespace horovodx::runtime {

TuningLog::TuningLog(const std::string& path, bool cache_enabled)
    : path_(path), cache_enabled_(cache_enabled) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "w"));
  if (file_ == nullptr) {
    HVDX_LOG(kError) << "HOROVOD_AUTOTUNE_LOG: cannot write '" << path
                     << "': " << std::strerror(errno) << "; tuning goes on without it";
    return;
  }
  Write(tuning::CsvHeader());
}

void TuningLog::Add(const tuning::Tried& tried) {
  const std::string row = tuning::CsvRow(tried, cache_enabled_);
  HVDX_LOG(kInfo) << "Autotuner: " << row << " (" << tuning::RestInWords(tried.setting) << ")";
  Write(row);
}

void TuningLog::Write(const std::string& line) {
  if (file_ == nullptr) return;
  if (std::fprintf(file_.get(), "%s\n", line.c_str()) >= 0 && std::fflush(file_.get()) == 0) return;
  HVDX_LOG(kError) << "HOROVOD_AUTOTUNE_LOG: cannot write '" << path_
                   << "': " << std::strerror(errno) << "; it ends here";
  file_.reset();
}

}  // namespace horovodx::runtime
