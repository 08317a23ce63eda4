# libms_core.so, which _core, devices and tests link, and the devices that come with it. They lie side by side in the package.
if(DEFINED SKBUILD)
  set(MS_LIBRARY_FOLDER "${CMAKE_CURRENT_BINARY_DIR}/lib")
elseif(MS_BUILD_PYTHON)
  set(MS_LIBRARY_FOLDER "${CMAKE_CURRENT_SOURCE_DIR}/mindspore/python/mindspore")
else()
  set(MS_LIBRARY_FOLDER "${CMAKE_CURRENT_BINARY_DIR}")
endif()

# A library of the package: others see what is in namespace ms; its own calls do not go through a table.
function(ms_add_library name)
  add_library(${name} SHARED ${ARGN})
  target_include_directories(${name} PUBLIC "${MS_SOURCE_ROOT}" "${MS_GENERATED}")
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic-functions
                      "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map")
  set_target_properties(${name} PROPERTIES
    CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
    LIBRARY_OUTPUT_DIRECTORY "${MS_LIBRARY_FOLDER}")
  ms_find_beside(${name})
  ms_precompile(${name})
  install(TARGETS ${name} LIBRARY DESTINATION mindspore)
endfunction()

# An installed package holds oneDNN in its folder lib; a developer's finds it where it was built against.
function(ms_find_beside name)
  if(DEFINED SKBUILD)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN:$ORIGIN/lib")
  else()
    set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN;${MS_LIBRARY_FOLDER};${MS_ONEDNN_FOUND}/lib")
  endif()
endfunction()

file(GLOB_RECURSE MS_CORE_SOURCES CONFIGURE_DEPENDS "${MS_SOURCE_ROOT}/*.cc")
list(FILTER MS_CORE_SOURCES EXCLUDE REGEX "^${MS_SOURCE_ROOT}/(python|backends/cpu|backends/cuda)/")
ms_add_library(ms_core ${MS_CORE_SOURCES})
target_link_libraries(ms_core PUBLIC ms_flags ms_dependencies PRIVATE ms_sqlite "${MS_JPEG_LIBRARY}")
target_include_directories(ms_core SYSTEM PRIVATE "${MS_JPEG_INCLUDE}")
target_link_options(ms_core PRIVATE -Wl,--exclude-libs,libsqlite3.a)
# Its functions for newer processors shall give the bits of the others.
set_source_files_properties("${MS_SOURCE_ROOT}/dataset/transforms/bytes.cc"
                            "${MS_SOURCE_ROOT}/dataset/transforms/colors.cc" PROPERTIES
                            COMPILE_OPTIONS -ffp-contract=off SKIP_PRECOMPILE_HEADERS ON)

file(GLOB_RECURSE MS_CPU_SOURCES CONFIGURE_DEPENDS "${MS_SOURCE_ROOT}/backends/cpu/*.cc")
list(FILTER MS_CPU_SOURCES EXCLUDE REGEX "_isa\\.cc$")
ms_add_library(ms_cpu ${MS_CPU_SOURCES})
target_link_libraries(ms_cpu PUBLIC ms_core PRIVATE ms_onednn)
ms_add_isa_libraries(ms_cpu)

# NVIDIA's GPUs. Nothing of NVIDIA's is needed to build it: it opens their libraries when it runs. Texts of kernels lie in it.
file(GLOB MS_CUDA_TEXTS CONFIGURE_DEPENDS "${MS_SOURCE_ROOT}/backends/cuda/device/*.cuh")
set(texts "")
foreach(file ${MS_CUDA_TEXTS} "${MS_SOURCE_ROOT}/loops/math_functions.h")
  string(REGEX REPLACE ".*/([a-z])([a-z]*)[^/]*$" "\\1;\\2" name "${file}")  # base.cuh is kBaseText, math_functions.h kMathText
  list(GET name 0 first)
  list(GET name 1 name)
  string(TOUPPER "${first}" first)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" content)
  string(APPEND texts "inline const char k${first}${name}Text[] = R\"TEXT(${content})TEXT\";\n")
endforeach()
file(CONFIGURE OUTPUT "${MS_GENERATED}/cuda/ms_cuda_texts.h" CONTENT "// Made from the files of the device's texts.\n#pragma once\n\n@texts@" @ONLY)
file(GLOB_RECURSE MS_CUDA_SOURCES CONFIGURE_DEPENDS "${MS_SOURCE_ROOT}/backends/cuda/*.cc")
ms_add_library(ms_cuda ${MS_CUDA_SOURCES})
target_include_directories(ms_cuda PRIVATE "${MS_GENERATED}/cuda")
target_link_libraries(ms_cuda PRIVATE ms_core "${CMAKE_DL_LIBS}")
