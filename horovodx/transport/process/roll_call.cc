#include "horovodx/transport/process/roll_call.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace horovodx::transport::process {
namespace {

// Words are lines: "<word> <rest of the line>".
struct Answer {
  std::string word;
  std::string rest;
};

const std::string kTcp = "tcp";
const std::string kAny = "any";
const std::string kTls = "+tls";

std::string Line(const std::string& word, std::string rest) {
  std::replace(rest.begin(), rest.end(), '\n', ' ');
  return word + ' ' + rest;
}

std::string Lines(const std::vector<std::string>& words) {
  std::string lines;
  for (const auto& word : words) lines += word + '\n';
  return lines;
}

Result<std::vector<Answer>> ParseLines(const std::string& text, int size) {
  std::vector<Answer> answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = std::min(line.find(' '), line.size());
    answers.push_back({line.substr(0, space), line.substr(std::min(space + 1, line.size()))});
  }
  if (static_cast<int>(answers.size()) == size) return answers;
  return Status::Precondition("rank 0 called " + std::to_string(answers.size()) +
                              " ranks where this one knows of " + std::to_string(size) +
                              ": they were not started as one job");
}

// All of them, or none. What is heard only explains: a rank that has TLS talks to nobody without.
Status CheckTls(const std::vector<Answer>& answers, bool mine) {
  int with = -1, without = -1;
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    int& first = answers[rank].word.ends_with(kTls) ? with : without;
    if (first < 0) first = static_cast<int>(rank);
  }
  const bool heard_others = (mine ? without : with) >= 0;
  if (!heard_others) return Status::Ok();
  return Status::InvalidArgument("HOROVODX_TLS=1 is set on rank " + std::to_string(with) +
                                 " but not on rank " + std::to_string(without) +
                                 ": it must be set on all ranks or on none");
}

// Where it is has not been said yet; the launcher may know.
std::string NameBefore(const Options& options, int rank) {
  const std::string name = "rank " + std::to_string(rank);
  const bool known = static_cast<int>(options.placed.size()) == options.size;
  return known ? name + " on " + options.placed[rank] : name;
}

}  // namespace

std::string NameOf(const topology::HostMap& hosts, int rank) {
  return "rank " + std::to_string(rank) + " on " + hosts.host_name(hosts.host_of(rank));
}

Council CouncilOf(rendezvous::Store& store, const std::string& key, const topology::HostMap& hosts,
                  const std::vector<int>& ranks, int rank, const std::string& missed) {
  std::vector<std::string> names;
  for (int one : ranks) names.push_back(NameOf(hosts, one));
  const auto me = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  return Council(store, key, std::move(names), static_cast<int>(me), missed);
}

Result<Places> CallPlaces(const Options& options, rendezvous::Store& store, const std::string& key,
                          const Deadline& deadline) {
  std::vector<std::string> names;
  for (int rank = 0; rank < options.size; ++rank) names.push_back(NameBefore(options, rank));
  const Council world(store, key, std::move(names), options.rank, "it has not called hvd.init()");
  const std::string word = Line(
      (options.force_tcp ? kTcp : kAny) + (options.tls ? kTls : std::string()), options.hostname);
  HVDX_ASSIGN_OR_RETURN(const std::string all, world.Agree(word, Lines, deadline));
  HVDX_ASSIGN_OR_RETURN(const std::vector<Answer> answers, ParseLines(all, options.size));
  HVDX_RETURN_IF_ERROR(CheckTls(answers, options.tls));
  Places places;
  std::vector<std::string> host_of;
  for (const Answer& answer : answers) {
    places.force_tcp |= answer.word.starts_with(kTcp);
    host_of.push_back(answer.rest);
  }
  places.hosts = topology::HostMap(host_of);
  return places;
}

Result<Doors> CallDoors(const Council& world, const Address& mine,
                        const std::string& why_not_shared, const Deadline& deadline) {
  const std::string word = Line(mine.ToString(), why_not_shared);
  HVDX_ASSIGN_OR_RETURN(const std::string all, world.Agree(word, Lines, deadline));
  HVDX_ASSIGN_OR_RETURN(const std::vector<Answer> answers, ParseLines(all, world.size()));
  Doors doors;
  for (const Answer& answer : answers) {
    HVDX_ASSIGN_OR_RETURN(const Address address, ParseAddress(answer.word));
    doors.addresses.push_back(address);
    if (doors.why_not_shared.empty()) doors.why_not_shared = answer.rest;
  }
  return doors;
}

}  // namespace horovodx::transport::process
