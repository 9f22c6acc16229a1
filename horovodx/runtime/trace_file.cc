#include "horovodx/runtime/trace_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace horovodx::runtime {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kFirstRoom = 16 * kPage;
constexpr std::string_view kClosing = "]\n";

std::string ErrorText(int error) { return std::generic_category().message(error); }

// Bytes of the UTF-8 sequence at the front of `text`, or 0 if there is none.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80    ? 1
                             : first < 0xC2  ? 0
                             : first < 0xE0  ? 2
                             : first < 0xF0  ? 3
                             : first <= 0xF4 ? 4
                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  // Overlong forms, surrogates, and numbers above the last one.
  const unsigned char second = byte(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

}  // namespace

Result<TraceFile> TraceFile::Create(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) {
    return Status::Unknown("timeline: cannot open '" + path + "': " + ErrorText(errno));
  }
  TraceFile file(std::move(fd), path);
  HVDX_RETURN_IF_ERROR(file.Write("[]\n", 0));
  file.end_ = file.bracket_ = 1;
  return file;
}

TraceFile::~TraceFile() {
  if (!fd_.valid()) return;
  if (bracket_ == end_ || !Write("\n]\n", end_).ok()) return;
  // The old bracket follows; if it cannot be cut off, the new one goes.
  if (::ftruncate(fd_.get(), end_ + 3) == 0) return;
  [[maybe_unused]] const Status kept = Write("\n ", end_);
}

Status TraceFile::Append(const std::vector<std::string>& records) {
  std::string text;
  // Writes what was gathered, then fills the page with blanks if the next record starts a new one.
  const auto flush = [&]() -> Status {
    if (text.empty()) return Status::Ok();
    HVDX_RETURN_IF_ERROR(Reserve(static_cast<std::int64_t>(text.size())));
    HVDX_RETURN_IF_ERROR(Write(text, end_));
    end_ += static_cast<std::int64_t>(text.size());
    text.clear();
    return Status::Ok();
  };
  for (const auto& record : records) {
    std::string next = empty_ ? "\n" : ",\n";
    next += record;
    const std::int64_t used = (end_ + static_cast<std::int64_t>(text.size())) % kPage;
    if (used + static_cast<std::int64_t>(next.size()) > kPage) {
      text.append(static_cast<std::size_t>(kPage - used), ' ');
      HVDX_RETURN_IF_ERROR(flush());
    }
    text += next;
    empty_ = false;
  }
  return flush();
}

Status TraceFile::Reserve(std::int64_t bytes) {
  if (end_ + bytes <= bracket_) return Status::Ok();
  const std::int64_t old_bracket = bracket_;
  const std::int64_t new_bracket = std::max(2 * old_bracket, end_ + bytes) + kFirstRoom;
  // Blanks after the bracket do no harm, however far this gets.
  const auto after = old_bracket + static_cast<std::int64_t>(kClosing.size());
  const std::string blanks(static_cast<std::size_t>(new_bracket - after), ' ');
  HVDX_RETURN_IF_ERROR(Write(blanks, after));
  HVDX_RETURN_IF_ERROR(Write("  ", new_bracket));  // from here on nothing needs new space
  HVDX_RETURN_IF_ERROR(Write(" \n", old_bracket));
  HVDX_RETURN_IF_ERROR(Write(kClosing, new_bracket));
  bracket_ = new_bracket;
  return Status::Ok();
}

Status TraceFile::Write(std::string_view text, std::int64_t at) {
  while (!text.empty()) {
    const ssize_t n = ::pwrite(fd_.get(), text.data(), text.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return Status::Unknown("timeline: cannot write '" + path_ + "' after " +
                             std::to_string(end_) + " bytes: " + ErrorText(n < 0 ? errno : ENOSPC));
    }
    text.remove_prefix(static_cast<std::size_t>(n));
    at += n;
  }
  return Status::Ok();
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "\\ufffd";
    } else if (text.front() == '"' || text.front() == '\\') {
      out += '\\';
      out += text.front();
    } else if (byte < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", byte);
      out += code;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

}  // namespace horovodx::runtime
