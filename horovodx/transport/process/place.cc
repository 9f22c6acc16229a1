#include "horovodx/transport/process/place.h"

#include <algorithm>
#include <sstream>

namespace horovodx::transport::process {
namespace {

const std::string kTcp = "tcp";
const std::string kAny = "any";
const std::string kTls = "+tls";

std::string Number(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "-";
}

bool ReadNumber(std::istream& from, std::optional<int>* number) {
  std::string text;
  if (!(from >> text)) return false;
  if (text == "-") return true;
  if (text.empty() || text.size() > 9 ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return false;
  }
  *number = std::stoi(text);
  return true;
}

std::string Wrong(const char* name, const std::optional<int>& told, int expected,
                  const topology::HostMap& hosts, int rank) {
  if (!told || *told == expected) return "";
  return std::string(name) + " is '" + std::to_string(*told) + "' on rank " + std::to_string(rank) +
         "; expected " + std::to_string(expected) + ", as rank " + std::to_string(rank) +
         " is on host '" + hosts.host_name(hosts.host_of(rank)) + "' with " +
         std::to_string(hosts.local_size(rank)) + " of " + std::to_string(hosts.size()) +
         " ranks (HOROVOD_HOSTNAME tells hosts apart)";
}

}  // namespace

std::string Place::ToWord() const {
  std::string host = hostname;
  std::replace(host.begin(), host.end(), '\n', ' ');
  return (force_tcp ? kTcp : kAny) + (tls ? kTls : std::string()) + ' ' + process + ' ' +
         Number(told.local_rank) + ' ' + Number(told.local_size) + ' ' + Number(told.cross_rank) +
         ' ' + Number(told.cross_size) + ' ' + host;
}

bool ParsePlace(const std::string& word, Place* place) {
  std::istringstream from(word);
  std::string way;
  if (!(from >> way >> place->process)) return false;
  Told& told = place->told;
  for (auto* number : {&told.local_rank, &told.local_size, &told.cross_rank, &told.cross_size}) {
    if (!ReadNumber(from, number)) return false;
  }
  if (from.get() != ' ' || !std::getline(from, place->hostname)) return false;
  place->tls = way.ends_with(kTls);
  if (place->tls) way.resize(way.size() - kTls.size());
  place->force_tcp = way == kTcp;
  return place->force_tcp || way == kAny;
}

Status CheckTold(const topology::HostMap& hosts, const std::vector<Place>& places) {
  for (int rank = 0; rank < hosts.size(); ++rank) {
    const Told& told = places[rank].told;
    std::string wrong =
        Wrong("HOROVOD_LOCAL_RANK", told.local_rank, hosts.local_rank(rank), hosts, rank);
    if (wrong.empty()) {
      wrong = Wrong("HOROVOD_LOCAL_SIZE", told.local_size, hosts.local_size(rank), hosts, rank);
    }
    if (!wrong.empty()) return Status::InvalidArgument(wrong);
  }
  return Status::Ok();
}

std::string DoubtsAboutCross(const topology::HostMap& hosts, int rank, const Told& told) {
  std::string wrong =
      Wrong("HOROVOD_CROSS_RANK", told.cross_rank, hosts.cross_rank(rank), hosts, rank);
  if (!wrong.empty()) return wrong;
  return Wrong("HOROVOD_CROSS_SIZE", told.cross_size, hosts.cross_size(rank), hosts, rank);
}

}  // namespace horovodx::transport::process
