// TraceFile: a file that holds a JSON array which is complete after every write, so that a file
// whose writer was killed loads like any other.
//
// A kill can cut a write in two where it crosses a page, and a closing bracket that moves with
// every record would have to cross one sooner or later. So the bracket stays where it is, behind a
// stretch of blanks, and records are written over the blanks, none across a page (except those
// longer than one). When the blanks run out the file doubles; only then, a handful of times in its
// life, the bracket moves. Closing cuts off what is left of the blanks.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "horovodx/base/fd.h"
#include "horovodx/base/status.h"

namespace horovodx::runtime {

class TraceFile {
 public:
  // Creates or truncates the file; it then holds an empty array.
  static Result<TraceFile> Create(const std::string& path);

  TraceFile(TraceFile&&) noexcept = default;
  TraceFile& operator=(TraceFile&&) = delete;
  ~TraceFile();

  // Appends records, each the text of one JSON value. After an error (a full disk) the file holds
  // the array as far as it got.
  Status Append(const std::vector<std::string>& records);

 private:
  TraceFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  // Makes room for `bytes` more before the bracket.
  Status Reserve(std::int64_t bytes);
  Status Write(std::string_view text, std::int64_t at);

  Fd fd_;
  std::string path_;
  std::int64_t end_ = 0;      // of the records
  std::int64_t bracket_ = 0;  // where the closing bracket is; blanks from end_ to here
  bool empty_ = true;
};

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace horovodx::runtime
