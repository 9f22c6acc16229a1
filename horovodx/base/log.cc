#include "horovodx/base/log.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace horovodx {
namespace {

std::atomic<int> g_level{static_cast<int>(LogLevel::kWarning)};
std::atomic<bool> g_hide_time{false};
std::atomic<LogSink> g_sink{nullptr};

std::string TimeStamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() %
      1'000'000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char day[32];
  std::strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &parts);
  char all[64];
  std::snprintf(all, sizeof(all), "%s.%6lld: ", day, static_cast<long long>(micros));
  return all;
}

}  // namespace

void SetLogOptions(const LogOptions& options) {
  g_level = static_cast<int>(options.level);
  g_hide_time = options.hide_time;
}

bool LogEnabled(LogLevel level) { return static_cast<int>(level) >= g_level.load(); }

void SetLogSink(LogSink sink) { g_sink = sink; }

LogLine::LogLine(LogLevel level, const char* file, int line, int rank) : level_(level) {
  const char* slash = std::strrchr(file, '/');
  text_ << '[' << (g_hide_time ? "" : TimeStamp()) << "TDIWEF"[static_cast<int>(level)] << ' '
        << (slash != nullptr ? slash + 1 : file) << ':' << line << "] ";
  if (rank >= 0) text_ << '[' << rank << "]: ";
}

LogLine::~LogLine() {
  text_ << '\n';
  const std::string line = text_.str();
  if (LogSink sink = g_sink.load(); sink != nullptr) {
    sink(level_, line);
  } else {
    const int fd = level_ >= LogLevel::kWarning ? STDERR_FILENO : STDOUT_FILENO;
    // A log line that cannot be written has nowhere to complain.
    [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
  }
  if (level_ == LogLevel::kFatal) std::abort();
}

}  // namespace horovodx
