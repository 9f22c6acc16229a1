// One exchange of messages under way: does not block; whoever holds it pumps it.
//
// Thread: the team's. The team and the memory of both messages are borrowed until it is done or
// destroyed; destroyed earlier, the exchange is given up.
#pragma once

#include <cstddef>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/arrival_report.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

class Flight {
 public:
  struct Messages {
    int to = 0;  // -1, also below: nothing in that direction
    std::vector<ConstBytes> out;
    int from = 0;
    std::vector<MutableBytes> in;
    std::size_t unit = 0;
    OnArrival on_arrival;
  };
  Flight(Team& team, Messages messages);
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  // Moves what can be moved now: the number of bytes.
  Result<std::size_t> Pump();
  bool done() const { return team_.Done(m_.to, m_.from); }
  transport::InLink* awaited_in() { return team_.AwaitedIn(m_.from); }
  transport::OutLink* awaited_out() { return team_.AwaitedOut(m_.to); }

 private:
  Team& team_;
  const Messages m_;
  ArrivalReport report_;
};

}  // namespace horovodx::collectives
