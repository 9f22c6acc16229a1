// What libhorovodx_mpi.so offers the engine: the part of MPI that is used here, as a table of
// functions. The two libraries are built and installed together and meet nowhere else.
//
// Handles are MPI's own, passed as pointers. Functions that return an int return MPI's error code,
// 0 if all is well; error_text() puts one into words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace horovodx::mpi {

using Comm = void*;
using Request = void*;

// How much MPI allows threads, as MPI counts it.
enum class Threads : int { kSingle = 0, kFunneled = 1, kSerialized = 2, kMultiple = 3 };

// What MPI can reduce by itself.
enum class Type : int { kInt8, kUint8, kInt16, kUint16, kInt32, kInt64, kFloat32, kFloat64 };
enum class Op : int { kSum, kMin, kMax, kProduct };

inline constexpr std::uint32_t kAbiVersion = 1;

struct Functions {
  std::uint32_t version;  // kAbiVersion

  // --- the library
  // Opens the first of `names` (ended by null) that is there and is an Open MPI. `text` says what
  // was found and where, or why nothing of it can be used. Does not start MPI.
  bool (*open)(const char* const* names, char* text, std::size_t capacity);
  void (*error_text)(int error, char* text, std::size_t capacity);

  // --- beginning and end. MPI starts once a process, and never again after its end.
  bool (*started)();
  bool (*finished)();
  int (*start)(int threads_wanted);
  int (*threads)(int* level);
  int (*finish)();

  // --- who is there
  Comm (*world)();
  bool (*is_null)(Comm comm);
  int (*rank)(Comm comm, int* rank);
  int (*size)(Comm comm, int* size);
  int (*host_name)(char* name, std::size_t capacity);
  // Of the members of `comm` that share memory with me, the lowest rank. Collective.
  int (*first_on_host)(Comm comm, int* rank);
  // ranks[i] is what member i of `of` is called in `in`, or -1. `ranks` holds size(of) numbers.
  int (*ranks_in)(Comm of, Comm in, int* ranks);
  // Communicators of our own, whose errors are returned. Collective over their members.
  int (*duplicate)(Comm comm, Comm* own);
  int (*among)(Comm comm, const int* ranks, int count, int tag, Comm* own);
  int (*release)(Comm* own);

  // --- messages. A send is done when the receiver has begun to take it.
  int (*send)(const void* data, int bytes, int to, int tag, Comm comm, Request* request);
  int (*receive)(void* data, int bytes, int from, int tag, Comm comm, Request* request);
  // `bytes` of a receive that is done. A request that is done is gone.
  int (*test)(Request* request, bool* done, int* bytes);
  // Gives up a receive. `gone`: its memory is free; otherwise MPI still writes to it.
  int (*cancel)(Request* request, bool* gone);

  // --- in place, over all of `comm`
  int (*allreduce)(void* data, int count, int type, int op, Comm comm, Request* request);
};

// The one symbol of libhorovodx_mpi.so.
inline constexpr char kEntryPoint[] = "hvdx_mpi_functions";
using EntryPoint = const Functions* (*)();

}  // namespace horovodx::mpi
