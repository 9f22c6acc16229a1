#include "horovodx/mpi/open_mpi.h"

#include <dlfcn.h>

#include <string_view>

namespace horovodx::mpi::open_mpi {
namespace {

struct Symbol {
  const char* name;
  void** to;
};

// A pointer to a function is kept where dlsym's result is put: POSIX says that this works.
template <typename Function>
void** At(Function*& function) {
  return reinterpret_cast<void**>(&function);
}

bool Resolve(void* file, std::initializer_list<Symbol> symbols, std::string& missing) {
  for (const Symbol& symbol : symbols) {
    *symbol.to = ::dlsym(file, symbol.name);
    if (*symbol.to != nullptr) continue;
    missing = symbol.name;
    return false;
  }
  return true;
}

bool ResolveCalls(void* file, Calls& c, std::string& missing) {
  return Resolve(file,
                 {{"MPI_Initialized", At(c.Initialized)},
                  {"MPI_Finalized", At(c.Finalized)},
                  {"MPI_Init_thread", At(c.Init_thread)},
                  {"MPI_Query_thread", At(c.Query_thread)},
                  {"MPI_Finalize", At(c.Finalize)},
                  {"MPI_Error_string", At(c.Error_string)},
                  {"MPI_Get_processor_name", At(c.Get_processor_name)},
                  {"MPI_Comm_rank", At(c.Comm_rank)},
                  {"MPI_Comm_size", At(c.Comm_size)},
                  {"MPI_Comm_dup", At(c.Comm_dup)},
                  {"MPI_Comm_free", At(c.Comm_free)},
                  {"MPI_Comm_group", At(c.Comm_group)},
                  {"MPI_Comm_create_group", At(c.Comm_create_group)},
                  {"MPI_Comm_split_type", At(c.Comm_split_type)},
                  {"MPI_Comm_set_errhandler", At(c.Comm_set_errhandler)},
                  {"MPI_Group_incl", At(c.Group_incl)},
                  {"MPI_Group_translate_ranks", At(c.Group_translate_ranks)},
                  {"MPI_Group_free", At(c.Group_free)},
                  {"MPI_Bcast", At(c.Bcast)},
                  {"MPI_Issend", At(c.Issend)},
                  {"MPI_Irecv", At(c.Irecv)},
                  {"MPI_Test", At(c.Test)},
                  {"MPI_Get_count", At(c.Get_count)},
                  {"MPI_Cancel", At(c.Cancel)},
                  {"MPI_Request_free", At(c.Request_free)},
                  {"MPI_Iallreduce", At(c.Iallreduce)}},
                 missing);
}

bool ResolveObjects(void* file, Objects& o, std::string& missing) {
  return Resolve(file,
                 {{"ompi_mpi_comm_world", &o.comm_world},
                  {"ompi_mpi_comm_null", &o.comm_null},
                  {"ompi_mpi_info_null", &o.info_null},
                  {"ompi_mpi_errors_return", &o.errors_return},
                  {"ompi_mpi_byte", &o.byte},
                  {"ompi_mpi_int", &o.integer},
                  {"ompi_mpi_int8_t", &o.int8},
                  {"ompi_mpi_uint8_t", &o.uint8},
                  {"ompi_mpi_int16_t", &o.int16},
                  {"ompi_mpi_uint16_t", &o.uint16},
                  {"ompi_mpi_int32_t", &o.int32},
                  {"ompi_mpi_int64_t", &o.int64},
                  {"ompi_mpi_float", &o.float32},
                  {"ompi_mpi_double", &o.float64},
                  {"ompi_mpi_op_sum", &o.sum},
                  {"ompi_mpi_op_min", &o.min},
                  {"ompi_mpi_op_max", &o.max},
                  {"ompi_mpi_op_prod", &o.product}},
                 missing);
}

// A program that is linked with this libmpi may have the objects in its own memory (the linker
// copies them there), and then libmpi uses those: everybody finds them where the program does.
void* WhereObjectsAre(void* file) {
  const bool is_the_programs =
      ::dlsym(RTLD_DEFAULT, "MPI_Init_thread") == ::dlsym(file, "MPI_Init_thread");
  return is_the_programs ? RTLD_DEFAULT : file;
}

std::string PathOf(void* symbol) {
  Dl_info info{};
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?";
}

// One line of what MPI says of itself.
std::string VersionOf(const Calls& call) {
  char text[8192] = {};  // MPICH's has many lines
  int length = 0;
  if (call.Get_library_version(text, &length) != kSuccess) return "a library without a version";
  const std::string_view all(text);
  return std::string(all.substr(0, all.find_first_of("\n\r")));
}

// What `name` is; true if it can be used.
bool OpenOne(const char* name, Library& library) {
  // Global: MPI's plugins look for its symbols there. For good: MPI cannot be unloaded.
  void* file = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (file == nullptr) {
    const char* why = ::dlerror();
    library.text = why != nullptr ? why : "cannot be opened";
    return false;
  }
  std::string missing;
  Calls& call = library.call;
  if (!Resolve(file, {{"MPI_Get_library_version", At(call.Get_library_version)}}, missing)) {
    library.text = std::string(name) + " is no MPI: it has no " + missing;
    return false;
  }
  library.text =
      VersionOf(call) + " (" + PathOf(reinterpret_cast<void*>(call.Get_library_version)) + ")";
  if (library.text.find("Open MPI v") == std::string::npos) {
    library.text = "found " + library.text + ", which is not Open MPI 4 or 5";
    return false;
  }
  if (ResolveCalls(file, call, missing) &&
      ResolveObjects(WhereObjectsAre(file), library.object, missing)) {
    return true;
  }
  library.text = "found " + library.text + ", which has no " + missing;
  return false;
}

}  // namespace

bool Open(const char* const* names, Library& library) {
  std::string why;
  for (; *names != nullptr; ++names) {
    if (OpenOne(*names, library)) return true;
    if (why.find(library.text) == std::string::npos)
      why += (why.empty() ? "" : "; ") + library.text;
  }
  library.text = why;
  return false;
}

}  // namespace horovodx::mpi::open_mpi
