// Log lines in Horovod's format: `[2026-01-31 12:00:00.000042: W file.cc:12] [rank]: message`.
//
// Trace, debug and info go to stdout, warnings and above to stderr. One write per line, so lines of
// several ranks do not mix. The level and the time switch are handed in once (SetLogOptions), by
// whoever reads the configuration.
#pragma once

#include <sstream>
#include <string>

namespace horovodx {

enum class LogLevel : int { kTrace = 0, kDebug, kInfo, kWarning, kError, kFatal };

struct LogOptions {
  LogLevel level = LogLevel::kWarning;
  bool hide_time = false;
};

void SetLogOptions(const LogOptions& options);
bool LogEnabled(LogLevel level);

// Tests read lines instead of printing them: called with each finished line. Pass nullptr to undo.
using LogSink = void (*)(LogLevel, const std::string& line);
void SetLogSink(LogSink sink);

class LogLine {
 public:
  // rank < 0: not about a rank.
  LogLine(LogLevel level, const char* file, int line, int rank = -1);
  ~LogLine();
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;
  std::ostream& stream() { return text_; }

 private:
  LogLevel level_;
  std::ostringstream text_;
};

}  // namespace horovodx

// HVDX_LOG(kWarning) << "..."; HVDX_LOG_RANK(kInfo, rank) << "...";
#define HVDX_LOG_RANK(level, rank)                            \
  if (!::horovodx::LogEnabled(::horovodx::LogLevel::level)) { \
  } else                                                      \
    ::horovodx::LogLine(::horovodx::LogLevel::level, __FILE__, __LINE__, rank).stream()
#define HVDX_LOG(level) HVDX_LOG_RANK(level, -1)
