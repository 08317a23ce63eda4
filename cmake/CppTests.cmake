# One GoogleTest program over tests/cpp/**; it links the core and the host's device, never Python.
find_package(GTest REQUIRED)
file(GLOB_RECURSE MS_TEST_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/*.cc")
if(MS_TEST_SOURCES)
  add_executable(ms_tests EXCLUDE_FROM_ALL ${MS_TEST_SOURCES})
  target_include_directories(ms_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp")
  target_link_libraries(ms_tests PRIVATE ms_cpu ms_onednn GTest::gmock GTest::gtest GTest::gtest_main)
  ms_precompile(ms_tests <gmock/gmock.h> <gtest/gtest.h>)
  set_target_properties(ms_tests PROPERTIES BUILD_RPATH "${MS_LIBRARY_FOLDER};${MS_ONEDNN_FOUND}/lib")
endif()

# A device for tests, in a library of its own as other devices are.
file(GLOB MS_FENCED_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/devices/fenced/*.cc")
add_library(ms_fenced MODULE EXCLUDE_FROM_ALL ${MS_FENCED_SOURCES})
target_link_libraries(ms_fenced PRIVATE ms_core)
set_target_properties(ms_fenced PROPERTIES BUILD_RPATH "${MS_LIBRARY_FOLDER};${MS_ONEDNN_FOUND}/lib")

# NVIDIA's libraries as a stub for tests: the device GPU on any machine.
file(GLOB MS_CUDA_STUB_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/devices/cuda_stub/*.cc")
add_library(ms_cuda_stub MODULE EXCLUDE_FROM_ALL ${MS_CUDA_STUB_SOURCES})
target_link_libraries(ms_cuda_stub PRIVATE ms_flags ms_fmt "${CMAKE_DL_LIBS}")
target_compile_definitions(ms_cuda_stub PRIVATE MS_STUB_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/tests/devices/cuda_stub"
                           MS_STUB_COMPILER="${CMAKE_CXX_COMPILER}")
