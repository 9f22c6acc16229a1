// The part of XLA's FFI (its C interface for custom calls) that we use, as of its version 0.1,
// which TensorFlow 2.19 to 2.21 accept. Declared here so that no TensorFlow is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct XLA_FFI_Error;
struct XLA_FFI_ExecutionContext;

struct XLA_FFI_Extension_Base {
  std::size_t struct_size;
  int type;  // 1: somebody asks for the metadata of a handler
  XLA_FFI_Extension_Base* next;
};

struct XLA_FFI_Api_Version {
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int major_version;
  int minor_version;
};

struct XLA_FFI_ByteSpan {
  const char* ptr;
  std::size_t len;
};

struct XLA_FFI_Scalar {
  int dtype;
  void* value;
};

struct XLA_FFI_Buffer {
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  int dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};

struct XLA_FFI_Args {  // and XLA_FFI_Rets
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  std::int64_t size;
  int* types;
  void** buffers;
};

struct XLA_FFI_Attrs {
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  std::int64_t size;
  int* types;  // 3: XLA_FFI_Scalar, 4: XLA_FFI_ByteSpan
  XLA_FFI_ByteSpan** names;
  void** attrs;
};

struct XLA_FFI_Api;

struct XLA_FFI_CallFrame {
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  const XLA_FFI_Api* api;
  XLA_FFI_ExecutionContext* ctx;
  int stage;  // 3: execute
  XLA_FFI_Args args;
  XLA_FFI_Args rets;
  XLA_FFI_Attrs attrs;
};

using XLA_FFI_Handler = XLA_FFI_Error* (*)(XLA_FFI_CallFrame*);

struct XLA_FFI_Metadata {
  std::size_t struct_size;
  XLA_FFI_Api_Version api_version;
};

struct XLA_FFI_Metadata_Extension {
  XLA_FFI_Extension_Base extension_base;
  XLA_FFI_Metadata* metadata;
};

struct XLA_FFI_Handler_Register_Args {
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  XLA_FFI_ByteSpan name;
  XLA_FFI_ByteSpan platform;
  XLA_FFI_Handler instantiate;
  XLA_FFI_Handler prepare;
  XLA_FFI_Handler initialize;
  XLA_FFI_Handler execute;
  std::uint32_t traits;
};

struct XLA_FFI_Error_Create_Args {
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  const char* message;
  int errc;
};

struct XLA_FFI_Api {
  std::size_t struct_size;
  XLA_FFI_Extension_Base* extension_start;
  XLA_FFI_Api_Version api_version;
  const void* internal_api;
  XLA_FFI_Error* (*XLA_FFI_Error_Create)(XLA_FFI_Error_Create_Args*);
  void* XLA_FFI_Error_GetMessage;
  void* XLA_FFI_Error_Destroy;
  XLA_FFI_Error* (*XLA_FFI_Handler_Register)(XLA_FFI_Handler_Register_Args*);
};
}
