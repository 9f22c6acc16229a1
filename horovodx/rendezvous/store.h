// Store: how ranks find each other before they are connected. A small shared map of byte strings.
#pragma once

#include <cstddef>
#include <string>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"

namespace horovodx::rendezvous {

class Store {
 public:
  virtual ~Store() = default;
  // Sets a key for all to see. A key is set once; setting it again replaces the value.
  virtual Status Set(const std::string& key, const std::string& value) = 0;
  // Waits until the key exists. At the deadline: kUnknown, naming the key, and nothing else is
  // kUnknown: a store that cannot be asked is kAborted.
  virtual Result<std::string> Get(const std::string& key, const Deadline& deadline) = 0;
  // All keys that begin so are as if nobody had set them; for those that nobody will ask for.
  virtual Status Forget(const std::string& prefix) = 0;
};

}  // namespace horovodx::rendezvous
