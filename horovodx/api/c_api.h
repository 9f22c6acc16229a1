/* The engine's C ABI: the one header outsiders include.
 *
 * Two families: hvdx_* is ours; horovod_* are the names that Horovod's Python layer calls by
 * ctypes, with Horovod's meaning. Calls are safe from any thread. Nothing here throws or aborts on
 * bad input: a call that fails returns a negative number or a status code, and hvdx_last_error()
 * says why.
 */
#ifndef HOROVODX_API_C_API_H_
#define HOROVODX_API_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HVDX_EXPORT __attribute__((visibility("default")))
#else
#define HVDX_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- numbers --------------------------------------------------------------------------------- */

enum hvdx_status {
  HVDX_OK = 0,
  HVDX_UNKNOWN = 1,          /* a peer is gone, a time limit passed, the engine was shut down */
  HVDX_PRECONDITION = 2,     /* ranks disagree about a tensor; or not initialized */
  HVDX_ABORTED = 3,          /* taken back or cannot be done */
  HVDX_INVALID_ARGUMENT = 4, /* the caller's mistake */
  HVDX_TIMEOUT = 5           /* hvdx_wait only: not finished yet; the handle stays valid */
};

enum hvdx_type {
  HVDX_UINT8 = 0,
  HVDX_INT8 = 1,
  HVDX_UINT16 = 2,
  HVDX_INT16 = 3,
  HVDX_INT32 = 4,
  HVDX_INT64 = 5,
  HVDX_FLOAT16 = 6,
  HVDX_FLOAT32 = 7,
  HVDX_FLOAT64 = 8,
  HVDX_BOOL = 9,
  HVDX_BFLOAT16 = 10
};

enum hvdx_op {
  HVDX_AVERAGE = 0,
  HVDX_SUM = 1,
  HVDX_ADASUM = 2,
  HVDX_MIN = 3,
  HVDX_MAX = 4,
  HVDX_PRODUCT = 5
};

enum hvdx_kind {
  HVDX_ALLREDUCE = 0,
  HVDX_ALLGATHER = 1,
  HVDX_BROADCAST = 2,
  HVDX_JOIN = 3,
  HVDX_ALLTOALL = 5,
  HVDX_BARRIER = 6,
  HVDX_REDUCESCATTER = 7
};

/* --- submitting ------------------------------------------------------------------------------ */

/* One collective of one tensor. Zero-initialise, set struct_size, fill what the kind needs. */
typedef struct hvdx_submission {
  uint32_t struct_size; /* sizeof(hvdx_submission) */
  int32_t kind;         /* enum hvdx_kind */
  int32_t type;         /* enum hvdx_type */
  int32_t op;           /* enum hvdx_op: allreduce, reducescatter */
  int32_t process_set;  /* 0 is everybody */
  int32_t root;         /* broadcast: global rank */
  int32_t device;       /* -1: CPU memory */
  int32_t ndim;
  const int64_t* shape; /* [ndim]; copied */
  const char* name;     /* identifies the collective across ranks; copied */
  /* allreduce, reducescatter: multiply before and after reducing, if `scaled` is not 0. */
  int32_t scaled;
  double prescale;
  double postscale;
  /* Memory belongs to the engine from the call until the operation has finished. */
  const void* input;
  void* output;          /* may be input; allgather and alltoall: see allocate */
  const int32_t* splits; /* alltoall: rows for each member, or NULL for equal shares; copied */
  int32_t split_count;
  /* Where the result of an allgather or alltoall goes: called once its shape is known, on a thread
   * of the engine; returns memory or NULL (the operation then fails). Without it the engine keeps
   * the result itself: hvdx_output(). */
  void* (*allocate)(void* context, int32_t ndim, const int64_t* shape);
  /* Called exactly once when finished, on a thread of the engine or on one that waits. May submit,
   * must not wait. May be NULL. */
  void (*done)(void* context, int32_t status, const char* message);
  void* context;
} hvdx_submission;

typedef int64_t hvdx_handle; /* > 0; or -(enum hvdx_status) */

/* Returns at once. */
HVDX_EXPORT hvdx_handle hvdx_submit(const hvdx_submission* submission);
/* All or nothing; they become ready together. handles[n] are filled. Returns a status. */
HVDX_EXPORT int32_t hvdx_submit_group(const hvdx_submission* submissions, int32_t n,
                                      hvdx_handle* handles);
/* Submits and waits: the fastest way for one small tensor. Returns its status. */
HVDX_EXPORT int32_t hvdx_run(const hvdx_submission* submission);
/* The same for at most `seconds`: HVDX_TIMEOUT leaves a handle in *handle to go on waiting with. */
HVDX_EXPORT int32_t hvdx_run_for(const hvdx_submission* submission, double seconds,
                                 hvdx_handle* handle);

/* Registers a tensor once, to be submitted by number afterwards: no name, shape or string is looked
 * at again. Returns a slot >= 0 or -(enum hvdx_status). Valid until shutdown. */
HVDX_EXPORT int64_t hvdx_register(const hvdx_submission* submission);
HVDX_EXPORT hvdx_handle hvdx_submit_slot(int64_t slot, const void* input, void* output);

/* --- finishing ------------------------------------------------------------------------------- */

/* 1 finished, 0 not yet, negative: no such handle. */
HVDX_EXPORT int32_t hvdx_poll(hvdx_handle handle);
/* Waits until finished and returns its status; seconds < 0: as long as it takes. The handle stays
 * valid until hvdx_release(). */
HVDX_EXPORT int32_t hvdx_wait(hvdx_handle handle, double seconds);
/* After it has finished. Result memory kept by the engine, its shape, received splits, last joined
 * rank. */
HVDX_EXPORT void* hvdx_output(hvdx_handle handle);
HVDX_EXPORT int32_t hvdx_output_ndim(hvdx_handle handle);
HVDX_EXPORT int32_t hvdx_output_shape(hvdx_handle handle, int64_t* shape);
HVDX_EXPORT int32_t hvdx_received_splits(hvdx_handle handle,
                                         int32_t* splits); /* count or negative */
HVDX_EXPORT int32_t hvdx_last_joined(hvdx_handle handle);
/* Forgets a handle; if it has not finished, the operation goes on without it. */
HVDX_EXPORT void hvdx_release(hvdx_handle handle);

/* Why the last failing call on this thread failed; never NULL. */
HVDX_EXPORT const char* hvdx_last_error(void);

/* --- looking inside -------------------------------------------------------------------------- */

/* Counts since init, by name: "control_messages_sent", "control_messages_received",
 * "plans_started", "plans_left", "buckets_planned", "buckets_negotiated"; -1 for an unknown name.
 * On rank 0, with HOROVODX_SCHEDULE=optimal (the default) or mgwfbp, as of the last plan's start:
 * "plans_made_anew", and what an allreduce takes by the measurements so far: "cost_samples",
 * "cost_0_ns" (of next to nothing), "cost_1mib_ns" (of 1 MiB); HOROVOD_LOG_LEVEL=debug has it all.
 */
HVDX_EXPORT int64_t hvdx_counter(const char* name);
/* What rank 0 knows about the allreduces of all ranks: "allreduce_selection" (JSON: which algorithm
 * runs at which size, and why), "allreduce_selection_table" (the same to read), "allreduce_costs"
 * (JSON: what links and algorithms take). Writes at most size - 1 characters and a 0 to `text`,
 * which may be NULL if size is 0; returns the length of the whole, or -1 where nothing is known: on
 * other ranks, for another word, before init. */
HVDX_EXPORT int64_t hvdx_describe(const char* what, char* text, int64_t size);
HVDX_EXPORT const char* hvdx_version(void);

/* --- rendezvous: what a launcher runs -------------------------------------------------------- */

/* Starts the store through which ranks find each other; returns its port, or a negative status.
 * `secret` is 64 hex digits. One a process; stop it when the job has ended. */
HVDX_EXPORT int32_t hvdx_rendezvous_start(const char* address, int32_t port, const char* secret,
                                          const char* job_id);
HVDX_EXPORT void hvdx_rendezvous_stop(void);

/* --- MPI, which is loaded when it is wanted -------------------------------------------------- */

/* What would be used, "Open MPI v4.1.4, ... (file)"; NULL if there is none that can be, and
 * hvdx_last_error() says why. Loads it, and does not start it. */
HVDX_EXPORT const char* hvdx_mpi_library(void);
/* Its MPI_COMM_WORLD; NULL if it is not loaded. Communicators of another MPI have another. */
HVDX_EXPORT void* hvdx_mpi_world(void);

/* --- Horovod's names ------------------------------------------------------------------------- */

extern HVDX_EXPORT const int HOROVOD_PROCESS_SET_ERROR_INIT;         /* -1 */
extern HVDX_EXPORT const int HOROVOD_PROCESS_SET_ERROR_DYNAMIC;      /* -2 */
extern HVDX_EXPORT const int HOROVOD_PROCESS_SET_ERROR_UNKNOWN_SET;  /* -3 */
extern HVDX_EXPORT const int HOROVOD_PROCESS_SET_ERROR_FOREIGN_SET;  /* -4 */
extern HVDX_EXPORT const int HOROVOD_PROCESS_SET_ERROR_SHUTDOWN;     /* -5 */
extern HVDX_EXPORT const int HOROVOD_PROCESS_SET_ERROR_EXISTING_SET; /* -6 */

HVDX_EXPORT bool horovod_init(const int* ranks, int nranks, const int* process_set_ranks,
                              const int* process_set_sizes, int num_process_sets);
/* comms[i] are Open MPI's MPI_Comm: the first is of the job, the others each mean the process sets
 * of all groups that ranks pass. Their sets come before those given by ranks. */
HVDX_EXPORT bool horovod_init_multi_comm(void* const* comms, int ncomms,
                                         const int* process_set_ranks, const int* process_set_sizes,
                                         int num_process_sets);
HVDX_EXPORT void horovod_shutdown(void);
HVDX_EXPORT int horovod_is_initialized(void);
HVDX_EXPORT int horovod_start_timeline(const char* file, bool mark_cycles);
HVDX_EXPORT int horovod_stop_timeline(void);
HVDX_EXPORT int horovod_rank(void);
HVDX_EXPORT int horovod_local_rank(void);
HVDX_EXPORT int horovod_cross_rank(void);
HVDX_EXPORT int horovod_size(void);
HVDX_EXPORT int horovod_local_size(void);
HVDX_EXPORT int horovod_cross_size(void);
HVDX_EXPORT bool horovod_is_homogeneous(void);
HVDX_EXPORT int horovod_mpi_threads_supported(void);
HVDX_EXPORT bool horovod_mpi_enabled(void);
HVDX_EXPORT bool horovod_mpi_built(void);
HVDX_EXPORT bool horovod_gloo_enabled(void);
HVDX_EXPORT bool horovod_gloo_built(void);
HVDX_EXPORT int horovod_nccl_built(void);
HVDX_EXPORT bool horovod_ddl_built(void);
HVDX_EXPORT bool horovod_ccl_built(void);
HVDX_EXPORT bool horovod_cuda_built(void);
HVDX_EXPORT bool horovod_rocm_built(void);
HVDX_EXPORT int horovod_reduce_op_average(void);
HVDX_EXPORT int horovod_reduce_op_sum(void);
HVDX_EXPORT int horovod_reduce_op_adasum(void);
HVDX_EXPORT int horovod_reduce_op_min(void);
HVDX_EXPORT int horovod_reduce_op_max(void);
HVDX_EXPORT int horovod_reduce_op_product(void);
HVDX_EXPORT int horovod_add_process_set(const int* ranks, int nranks);
HVDX_EXPORT int horovod_remove_process_set(int id);
HVDX_EXPORT int horovod_comm_process_set(void* comm);
HVDX_EXPORT int horovod_process_set_rank(int id);
HVDX_EXPORT int horovod_process_set_size(int id);
HVDX_EXPORT int horovod_process_set_included(int id);
HVDX_EXPORT int horovod_number_of_process_sets(void);
HVDX_EXPORT void horovod_process_set_ids(int* ids);
HVDX_EXPORT int horovod_process_set_ranks(int id, int* ranks);

#ifdef __cplusplus
}
#endif

#endif /* HOROVODX_API_C_API_H_ */
