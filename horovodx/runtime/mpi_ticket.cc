#include "horovodx/runtime/mpi_ticket.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace horovodx::runtime {
namespace {

constexpr int kTag = 18520;  // no other message of the caller's communicator is likely to have it
constexpr auto kLook = std::chrono::milliseconds(1);

// As it travels: the ranks of a job run the same build on the same kind of machine.
struct Form {
  std::array<char, 8> magic{'h', 'v', 'd', 'x', 't', 'k', 't', '1'};
  std::array<char, 64> address{};
  std::array<char, 32> secret{};
  std::array<char, 64> job_id{};
  int port = 0;
};

template <std::size_t kSize>
void Fill(std::array<char, kSize>& field, const std::string& text) {
  std::copy_n(text.begin(), std::min(text.size(), kSize), field.begin());
}
template <std::size_t kSize>
std::string TextOf(const std::array<char, kSize>& field) {
  return {field.data(), ::strnlen(field.data(), kSize)};
}

}  // namespace

TicketOffice::TicketOffice(mpi::Library& library, const Ticket& ticket, mpi::Comm comm,
                           const std::vector<int>& ranks)
    : library_(library), bytes_(new std::vector<std::byte>(sizeof(Form))) {
  Form form;
  Fill(form.address, ticket.address);
  Fill(form.secret, ticket.secret);
  Fill(form.job_id, ticket.job_id);
  form.port = ticket.port;
  std::memcpy(bytes_->data(), &form, sizeof(form));
  for (int rank : ranks) {
    mpi::Request request = nullptr;
    const int error =
        library_.call().send(bytes_->data(), sizeof(Form), rank, kTag, comm, &request);
    if (error == 0) sends_.push_back(request);
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { Serve(stop); });
}

TicketOffice::~TicketOffice() {
  thread_.request_stop();
  thread_.join();
  if (sends_.empty()) delete bytes_;
}

// MPI sends nothing by itself: somebody has to call it until the last message has left.
void TicketOffice::Serve(const std::stop_token& stop) {
  while (!sends_.empty()) {
    std::erase_if(sends_, [this](mpi::Request& request) {
      bool done = false;
      return library_.call().test(&request, &done, nullptr) != 0 || done;
    });
    if (stop.stop_requested()) return;
    std::this_thread::sleep_for(kLook);
  }
}

Result<Ticket> ReceiveTicket(mpi::Library& library, mpi::Comm comm, int from,
                             const Deadline& deadline) {
  auto* form = new Form;  // MPI may write to it for as long as the receive is not taken back
  form->magic = {};
  mpi::Request request = nullptr;
  HVDX_RETURN_IF_ERROR(library.Check(
      library.call().receive(form, sizeof(Form), from, kTag, comm, &request), "MPI_Irecv"));
  const TimePoint begin = Clock::now();
  bool done = false;
  while (!done) {
    HVDX_RETURN_IF_ERROR(library.Check(library.call().test(&request, &done, nullptr), "MPI_Test"));
    if (done) break;
    if (deadline.Passed()) {
      bool gone = false;
      library.call().cancel(&request, &gone);
      if (gone) delete form;
      return Status::Unknown("rank " + std::to_string(from) +
                             " of the communicator has not called hvd.init() within " +
                             std::to_string(std::lround(ToSeconds(Clock::now() - begin))) +
                             " s: its process hangs before that, or cannot be reached. Look at "
                             "what it printed last");
    }
    std::this_thread::sleep_for(kLook);
  }
  if (form->magic != Form().magic) {
    return Status::Precondition("rank " + std::to_string(from) + " runs another version");
  }
  Ticket ticket{TextOf(form->address), form->port,
                std::string(form->secret.data(), form->secret.size()), TextOf(form->job_id)};
  delete form;
  return ticket;
}

}  // namespace horovodx::runtime
