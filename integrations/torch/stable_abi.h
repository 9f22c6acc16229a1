// PyTorch's stable C ABI, as much of it as we use, as of 2.10: our own declarations, so that
// nothing of PyTorch is needed to build. libtorch_cpu.so exports these names; PyTorch promises to
// keep them. A new line here needs one in stable_abi_stub.cc, and must exist in 2.10.
//
// Ownership: a handle that a function returns through a pointer is ours to delete.
#pragma once

#include <cstddef>
#include <cstdint>

struct AtenTensorOpaque;
struct StableListOpaque;
struct StringOpaque;
class TorchLibraryOpaque;

using AtenTensorHandle = AtenTensorOpaque*;
using StableListHandle = StableListOpaque*;
using StringHandle = StringOpaque*;
using TorchLibraryHandle = TorchLibraryOpaque*;
using AOTITorchError = std::int32_t;  // 0: good
// One argument or result: a number, or a handle as a number. Doubles by their bits.
using StableIValue = std::uint64_t;
// Takes its arguments off the stack, deleting what they own, and puts its results there.
using StableKernel = void (*)(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs);

extern "C" {

// Types and devices are numbers that only these functions know.
std::int32_t aoti_torch_device_type_cpu();
std::int32_t aoti_torch_dtype_uint8();
std::int32_t aoti_torch_dtype_int8();
std::int32_t aoti_torch_dtype_uint16();
std::int32_t aoti_torch_dtype_int16();
std::int32_t aoti_torch_dtype_int32();
std::int32_t aoti_torch_dtype_int64();
std::int32_t aoti_torch_dtype_float16();
std::int32_t aoti_torch_dtype_float32();
std::int32_t aoti_torch_dtype_float64();
std::int32_t aoti_torch_dtype_bool();
std::int32_t aoti_torch_dtype_bfloat16();
std::size_t aoti_torch_dtype_element_size(std::int32_t dtype);

// Tensors. Sizes and data are borrowed from the tensor.
AOTITorchError aoti_torch_empty_strided(std::int64_t ndim, const std::int64_t* sizes,
                                        const std::int64_t* strides, std::int32_t dtype,
                                        std::int32_t device_type, std::int32_t device_index,
                                        AtenTensorHandle* tensor);
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor);
AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, std::int64_t* ndim);
AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, std::int64_t** sizes);
AOTITorchError aoti_torch_get_numel(AtenTensorHandle tensor, std::int64_t* count);
AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, std::int32_t* dtype);
AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, std::int32_t* device_type);
AOTITorchError aoti_torch_is_contiguous(AtenTensorHandle tensor, bool* contiguous);
AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** data);
AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void** data);

// Strings and lists. Whoever takes a list's items owns them; deleting it frees only the list.
AOTITorchError torch_string_length(StringHandle string, std::size_t* length);
AOTITorchError torch_string_c_str(StringHandle string, const char** data);
AOTITorchError torch_delete_string(StringHandle string);
AOTITorchError torch_new_list_reserve_size(std::size_t size, StableListHandle* list);
AOTITorchError torch_list_size(StableListHandle list, std::size_t* size);
AOTITorchError torch_list_get_item(StableListHandle list, std::size_t index, StableIValue* item);
AOTITorchError torch_list_push_back(StableListHandle list, StableIValue item);
AOTITorchError torch_delete_list(StableListHandle list);

// Registering. `version` is the ABI that the kernel was written for.
AOTITorchError aoti_torch_library_init_def(const char* name_space, const char* file,
                                           std::uint32_t line, TorchLibraryHandle* library);
AOTITorchError aoti_torch_library_init_impl(const char* name_space, const char* dispatch_key,
                                            const char* file, std::uint32_t line,
                                            TorchLibraryHandle* library);
AOTITorchError aoti_torch_library_def(TorchLibraryHandle library, const char* schema);
AOTITorchError torch_library_impl(TorchLibraryHandle library, const char* name, StableKernel kernel,
                                  std::uint64_t version);

}  // extern "C"
