#include "horovodx/transport/process/roll_call.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/transport/process/claim.h"
#include "horovodx/transport/process/place.h"

namespace horovodx::transport::process {
namespace {

// Words are lines: "<word> <rest of the line>".
struct Answer {
  std::string word;
  std::string rest;
};

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
  return Status::Precondition("rank 0 called " + std::to_string(answers.size()) + " of " +
                              std::to_string(size) + " ranks");
}

// All of them, or none. What is heard only explains: a rank that has TLS talks to nobody without.
Status CheckTls(const std::vector<Place>& places, bool mine) {
  int with = -1, without = -1;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    int& first = places[rank].tls ? with : without;
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

Status NotOneJob(std::size_t called, int size) {
  return Status::Precondition("rank 0 called " + std::to_string(called) +
                              " ranks where this one knows of " + std::to_string(size) +
                              ": they were not started as one job");
}

// What rank 0 makes of the words: all of them, or the alarm that one of them is.
std::string PlacesOrAlarm(const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (IsAlarm(word)) return word;
  }
  return Lines(words);
}

Result<std::vector<Place>> ParsePlaces(const std::string& decision, const Place& mine, int rank,
                                       int size) {
  if (IsAlarm(decision)) return FromAlarm(decision);
  std::vector<Place> places;
  std::istringstream lines(decision);
  for (std::string line; std::getline(lines, line);) {
    Place place;
    if (!ParsePlace(line, &place)) {
      return Status::Precondition("rank " + std::to_string(places.size()) +
                                  " said something strange at the roll call: '" + line +
                                  "'; is it another version of this library?");
    }
    places.push_back(std::move(place));
  }
  if (static_cast<int>(places.size()) != size) return NotOneJob(places.size(), size);
  if (places[rank].process != mine.process) return SaidTwice(rank, mine, places[rank].ToWord());
  return places;
}

}  // namespace

std::string NameOf(const topology::HostMap& hosts, int rank) {
  return "rank " + std::to_string(rank) + " on " + hosts.host_name(hosts.host_of(rank));
}

std::string NoteKey(const std::string& job, int rank) {
  return job + "/gave up/" + std::to_string(rank);
}

Council CouncilOf(rendezvous::Store& store, const std::string& job, const std::string& question,
                  const topology::HostMap& hosts, const std::vector<int>& ranks, int rank,
                  const std::string& missed) {
  std::vector<std::string> names;
  std::vector<std::string> notes;
  for (int one : ranks) {
    names.push_back(NameOf(hosts, one));
    notes.push_back(NoteKey(job, one));
  }
  const auto me = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  return Council(store, job + "/" + question, std::move(names), static_cast<int>(me), missed,
                 std::move(notes));
}

Result<Places> CallPlaces(const Options& options, rendezvous::Store& store, const std::string& job,
                          const Deadline& deadline) {
  std::vector<std::string> names;
  std::vector<std::string> notes;
  for (int rank = 0; rank < options.size; ++rank) {
    names.push_back(NameBefore(options, rank));
    notes.push_back(NoteKey(job, rank));
  }
  const Council world(store, job + "/places", std::move(names), options.rank,
                      "it has not called hvd.init()", std::move(notes));
  Place mine{options.force_tcp, options.tls, "", options.told, options.hostname};
  HVDX_ASSIGN_OR_RETURN(mine.process, NameThisProcess());
  HVDX_RETURN_IF_ERROR(ClaimRank(store, world, mine));
  HVDX_ASSIGN_OR_RETURN(const std::string all, world.Agree(mine.ToWord(), PlacesOrAlarm, deadline));
  HVDX_ASSIGN_OR_RETURN(const std::vector<Place> said,
                        ParsePlaces(all, mine, options.rank, options.size));
  HVDX_RETURN_IF_ERROR(CheckTls(said, options.tls));
  Places places;
  std::vector<std::string> host_of;
  for (const Place& one : said) {
    places.force_tcp |= one.force_tcp;
    host_of.push_back(one.hostname);
  }
  places.hosts = topology::HostMap(host_of);
  HVDX_RETURN_IF_ERROR(CheckTold(places.hosts, said));
  const std::string doubts = DoubtsAboutCross(places.hosts, options.rank, options.told);
  if (!doubts.empty()) {
    HVDX_LOG_RANK(kWarning, options.rank) << doubts;
  }
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
