#include "horovodx/collectives/flight.h"

#include <utility>

namespace horovodx::collectives {

Flight::Flight(Team& team, Messages messages)
    : team_(team), m_(std::move(messages)), report_(m_.on_arrival, m_.unit) {
  team_.Begin(m_.to, m_.out, m_.from, m_.in);
}

Flight::~Flight() {
  if (!done()) team_.GiveUp(m_.to, m_.from);
}

Result<std::size_t> Flight::Pump() {
  HVDX_ASSIGN_OR_RETURN(const std::size_t moved, team_.Pump(m_.to, m_.from));
  if (m_.from >= 0) report_.Update(team_.Arrived(m_.from), team_.Complete(m_.from));
  return moved;
}

}  // namespace horovodx::collectives
