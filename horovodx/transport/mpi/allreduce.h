// MPI's own allreduce, for a mesh whose members are joined by MPI.
#pragma once

#include <memory>
#include <vector>

#include "horovodx/mpi/library.h"
#include "horovodx/transport/interrupt.h"
#include "horovodx/transport/native_allreduce.h"

namespace horovodx::transport::mpi {

class MpiAllreduce : public NativeAllreduce {
 public:
  // `members` are ranks of `comm`; `tag` is the channel's own. Nothing is made before the first
  // use. All are borrowed.
  MpiAllreduce(horovodx::mpi::Library& library, horovodx::mpi::Comm comm, std::vector<int> members,
               int tag, const Interrupt& interrupt);
  ~MpiAllreduce() override;

  bool Has(ElementType type, ReduceOp op) const override;
  Status Run(ElementType type, ReduceOp op, void* data, std::size_t count,
             const Deadline& deadline) override;

 private:
  Status MakeComm();
  Status Finish(horovodx::mpi::Request request, const Deadline& deadline) const;

  horovodx::mpi::Library& library_;
  const horovodx::mpi::Comm world_;
  const std::vector<int> members_;
  const int tag_;
  const Interrupt& interrupt_;
  horovodx::mpi::Comm comm_ = nullptr;
  std::unique_ptr<std::byte[]> bytes_;  // MPI works here: what it was left with is its own
  Status failure_;
};

}  // namespace horovodx::transport::mpi
