// TraceFile: a file that holds a JSON array which is complete after every write.
//
// Each write overwrites the closing bracket with further records and a new bracket, so a file whose
// writer was killed loads like any other. Writes stay below a page, so that even a kill in the
// middle of one finds it done or not begun.
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

  // Appends records, each the text of one JSON value. After an error (a full disk) the file holds
  // the array as far as it got.
  Status Append(const std::vector<std::string>& records);

 private:
  TraceFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Status WriteTail(const std::string& text);

  Fd fd_;
  std::string path_;
  std::int64_t end_ = 0;  // where the closing bracket begins
  bool empty_ = true;
};

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace horovodx::runtime
