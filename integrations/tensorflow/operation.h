// Operation: one execution of a kernel, from TensorFlow's call to its callback.
//
// It has a member for each tensor. Members end on threads of the engine; the last one to leave, or
// the submitter if they have all ended before it, finishes the operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "horovodx/api/c_api.h"
#include "integrations/tensorflow/done_callback.h"
#include "integrations/tensorflow/kernel.h"
#include "integrations/tensorflow/tensor.h"

namespace hvdx_tf {

class Operation {
 public:
  // Starts one, which deletes itself.
  static void Run(const Kernel& kernel, TF_OpKernelContext* context,
                  TF_AsyncOpKernelDoneCallback* done);

 private:
  struct Member {
    Operation* owner = nullptr;
    int index = 0;
    std::string name;
    Shape shape;
    TF_DataType type = TF_INT32;
    Tensor input;   // null if the output took its memory
    Tensor output;  // null until its shape is known
    std::vector<std::int32_t> splits;
    std::vector<std::int32_t> received_splits;
    hvdx_handle handle = 0;
  };

  Operation(const Kernel& kernel, TF_OpKernelContext* context, TF_AsyncOpKernelDoneCallback* done);

  // Before the engine hears of it; false if something failed.
  bool Prepare();
  bool ReadInput(Member& member);
  bool ReadSplits(Member& member);
  bool MakeRoom(Member& member);
  bool MakeRoomLikeInput(Member& member);
  bool MakeRoomForMyRows(Member& member);

  void Submit();
  hvdx_submission Describe(Member& member) const;

  // Threads of the engine.
  static void* Allocate(void* member, std::int32_t ndim, const std::int64_t* shape);
  static void MemberDone(void* member, std::int32_t status, const char* message);

  Tensor NewOutput(int index, TF_DataType type, const Shape& shape);
  // The first failure is the one that TensorFlow hears of.
  void Fail(TF_Code code, const std::string& message);
  void Leave();
  void Finish();
  void WriteResults();
  void WaitAndFinish();

  const Kernel& kernel_;
  TF_OpKernelContext* context_;
  const bool blocking_;
  DoneCallback done_;
  std::vector<Member> members_;
  std::atomic<int> not_left_{1};  // members, and the submitter
  std::binary_semaphore all_left_{0};

  std::mutex failure_mutex_;
  TF_Code failure_ = TF_OK;
  std::string failure_message_;
};

}  // namespace hvdx_tf
