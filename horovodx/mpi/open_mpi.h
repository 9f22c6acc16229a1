// Open MPI as its binary interface has it, in our own words: no header of MPI is needed to build.
//
// Handles are addresses of objects that libmpi exports under fixed names; that, the numbers below
// and the layout of Status are the same in Open MPI 4 and 5 (its library's soname, libmpi.so.40, is
// that promise). tests/horovodx/mpi/open_mpi_test.cc compares them with mpi.h where there is one.
#pragma once

#include <cstddef>
#include <string>

namespace horovodx::mpi::open_mpi {

using Handle = void*;

struct Status {
  int source;
  int tag;
  int error;
  int cancelled;
  std::size_t count;
};

inline constexpr int kSuccess = 0;
inline constexpr int kSharedMemory = 0;  // MPI_COMM_TYPE_SHARED
inline constexpr int kUndefined = -32766;
inline constexpr std::size_t kLongestText = 256;  // versions, host names, errors
inline void* const kInPlace = reinterpret_cast<void*>(1);
inline Status* const kIgnoreStatus = nullptr;

// Everything that is called, by MPI's names.
struct Calls {
  int (*Get_library_version)(char*, int*);
  int (*Initialized)(int*);
  int (*Finalized)(int*);
  int (*Init_thread)(int*, char***, int, int*);
  int (*Query_thread)(int*);
  int (*Finalize)();
  int (*Error_string)(int, char*, int*);
  int (*Get_processor_name)(char*, int*);
  int (*Comm_rank)(Handle, int*);
  int (*Comm_size)(Handle, int*);
  int (*Comm_dup)(Handle, Handle*);
  int (*Comm_free)(Handle*);
  int (*Comm_group)(Handle, Handle*);
  int (*Comm_create_group)(Handle, Handle, int, Handle*);
  int (*Comm_split_type)(Handle, int, int, Handle, Handle*);
  int (*Comm_set_errhandler)(Handle, Handle);
  int (*Group_incl)(Handle, int, const int*, Handle*);
  int (*Group_translate_ranks)(Handle, int, const int*, Handle, int*);
  int (*Group_free)(Handle*);
  int (*Bcast)(void*, int, Handle, int, Handle);
  int (*Issend)(const void*, int, Handle, int, int, Handle, Handle*);
  int (*Irecv)(void*, int, Handle, int, int, Handle, Handle*);
  int (*Test)(Handle*, int*, Status*);
  int (*Get_count)(const Status*, Handle, int*);
  int (*Cancel)(Handle*);
  int (*Request_free)(Handle*);
  int (*Iallreduce)(const void*, void*, int, Handle, Handle, Handle, Handle*);
};

// And every object.
struct Objects {
  Handle comm_world, comm_null, info_null, errors_return;
  Handle byte, integer;
  Handle int8, uint8, int16, uint16, int32, int64, float32, float64;
  Handle sum, min, max, product;
};

struct Library {
  Calls call{};
  Objects object{};
  std::string text;  // "Open MPI v4.1.4, ... (/usr/lib/libmpi.so.40)"
};

// Opens the first of `names` (ended by null) that is an Open MPI, for good. On failure
// `library.text` says what there was instead.
bool Open(const char* const* names, Library& library);

}  // namespace horovodx::mpi::open_mpi
