// Stands in for libtorch_cpu.so when libhorovodx_torch.so is linked: the names alone, so that the
// library asks for the real one when it is loaded. Never installed and never run.
#define HVDX_STUB(name) \
  void name();          \
  void name() {}

extern "C" {
HVDX_STUB(aoti_torch_delete_tensor_object)
HVDX_STUB(aoti_torch_device_type_cpu)
HVDX_STUB(aoti_torch_dtype_bfloat16)
HVDX_STUB(aoti_torch_dtype_bool)
HVDX_STUB(aoti_torch_dtype_element_size)
HVDX_STUB(aoti_torch_dtype_float16)
HVDX_STUB(aoti_torch_dtype_float32)
HVDX_STUB(aoti_torch_dtype_float64)
HVDX_STUB(aoti_torch_dtype_int16)
HVDX_STUB(aoti_torch_dtype_int32)
HVDX_STUB(aoti_torch_dtype_int64)
HVDX_STUB(aoti_torch_dtype_int8)
HVDX_STUB(aoti_torch_dtype_uint16)
HVDX_STUB(aoti_torch_dtype_uint8)
HVDX_STUB(aoti_torch_empty_strided)
HVDX_STUB(aoti_torch_get_device_type)
HVDX_STUB(aoti_torch_get_dim)
HVDX_STUB(aoti_torch_get_dtype)
HVDX_STUB(aoti_torch_get_numel)
HVDX_STUB(aoti_torch_get_sizes)
HVDX_STUB(aoti_torch_is_contiguous)
HVDX_STUB(aoti_torch_library_def)
HVDX_STUB(aoti_torch_library_init_def)
HVDX_STUB(aoti_torch_library_init_impl)
HVDX_STUB(torch_delete_list)
HVDX_STUB(torch_delete_string)
HVDX_STUB(torch_get_const_data_ptr)
HVDX_STUB(torch_get_mutable_data_ptr)
HVDX_STUB(torch_library_impl)
HVDX_STUB(torch_list_get_item)
HVDX_STUB(torch_list_push_back)
HVDX_STUB(torch_list_size)
HVDX_STUB(torch_new_list_reserve_size)
HVDX_STUB(torch_string_c_str)
HVDX_STUB(torch_string_length)
}
