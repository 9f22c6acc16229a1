#include "horovodx/runtime/trace_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace horovodx::runtime {
namespace {

constexpr std::size_t kLargestWrite = 4096;
constexpr std::string_view kClosing = "\n]\n";

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
  HVDX_RETURN_IF_ERROR(file.WriteTail("["));
  return file;
}

Status TraceFile::Append(const std::vector<std::string>& records) {
  std::string text;
  for (const auto& record : records) {
    if (!text.empty() && text.size() + record.size() + 8 > kLargestWrite) {
      HVDX_RETURN_IF_ERROR(WriteTail(text));
      text.clear();
    }
    text += empty_ ? "\n" : ",\n";
    text += record;
    empty_ = false;
  }
  return text.empty() ? Status::Ok() : WriteTail(text);
}

Status TraceFile::WriteTail(const std::string& text) {
  const std::string all = text + std::string(kClosing);
  std::size_t done = 0;
  while (done < all.size()) {
    const ssize_t n = ::pwrite(fd_.get(), all.data() + done, all.size() - done,
                               end_ + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : ENOSPC;
      // Close the array where it was; that takes no new space.
      [[maybe_unused]] const ssize_t closed =
          ::pwrite(fd_.get(), kClosing.data(), kClosing.size(), end_);
      [[maybe_unused]] const int cut =
          ::ftruncate(fd_.get(), end_ + static_cast<std::int64_t>(kClosing.size()));
      return Status::Unknown("timeline: cannot write '" + path_ + "' after " +
                             std::to_string(end_) + " bytes: " + ErrorText(error));
    }
    done += static_cast<std::size_t>(n);
  }
  end_ += static_cast<std::int64_t>(text.size());
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
