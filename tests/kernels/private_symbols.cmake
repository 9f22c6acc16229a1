# Fails if an object file compiled for AVX2 or AVX-512 defines a symbol that other files may share:
# the linker keeps one copy of those, and a machine without the instructions would run it.
set(looked_at 0)
foreach(object ${OBJECTS})
  if(NOT object MATCHES "_avx")
    continue()
  endif()
  execute_process(COMMAND ${NM} --defined-only ${object}
                  OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cannot list the symbols of ${object}")
  endif()
  string(REGEX MATCH "[^\n]* [WwVvu] [^\n]*" shared "${symbols}")
  if(shared)
    message(FATAL_ERROR "${object} shares a symbol: ${shared}")
  endif()
  math(EXPR looked_at "${looked_at} + 1")
endforeach()
message(STATUS "${looked_at} object files looked at")
