# Files named *_isa.cc hold kernels that profit from wide vectors. They are compiled once per
# instruction set, with MS_ISA set to the namespace that the copy must live in; the caller picks
# a copy at run time.
#
# Each copy is a static library linked after the owner's own code, narrowest first: when an inline function of
# a shared header is emitted by several copies, the linker keeps the first one, hence the one
# that runs on every machine.
file(GLOB_RECURSE MS_ISA_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/mindspore/ccsrc/*_isa.cc")
set(MS_X86_ISA OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(MS_X86_ISA ON)
endif()

function(ms_add_isa_library owner name)
  add_library(ms_isa_${name} STATIC ${MS_ISA_SOURCES})
  target_include_directories(ms_isa_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/mindspore/ccsrc")
  target_compile_definitions(ms_isa_${name} PRIVATE MS_ISA=${name})
  # GCC 12's own vector headers read variables that look uninitialised.
  target_compile_options(ms_isa_${name} PRIVATE ${ARGN} $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_libraries(ms_isa_${name} PRIVATE ms_flags ms_dependencies)
  target_link_libraries(${owner} PRIVATE ms_isa_${name})
endfunction()

function(ms_add_isa_libraries owner)
  if(MS_X86_ISA)
    target_compile_definitions(ms_dependencies INTERFACE MS_X86_ISA=1)
  endif()
  if(NOT MS_ISA_SOURCES)
    return()
  endif()
  if(MS_X86_ISA)
    ms_add_isa_library(${owner} base -march=x86-64)
    ms_add_isa_library(${owner} avx2 -march=x86-64-v3)
    ms_add_isa_library(${owner} avx512 -march=x86-64-v4 -mprefer-vector-width=512)
  else()
    ms_add_isa_library(${owner} base)
  endif()
endfunction()
