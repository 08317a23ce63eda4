# One GoogleTest program over tests/cpp/**; it links the core only, never Python.
find_package(GTest REQUIRED)
file(GLOB_RECURSE MS_TEST_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/*.cc")
if(MS_TEST_SOURCES)
  add_executable(ms_tests EXCLUDE_FROM_ALL ${MS_TEST_SOURCES})
  target_include_directories(ms_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp")
  target_link_libraries(ms_tests PRIVATE ms_core GTest::gmock GTest::gtest GTest::gtest_main)
  set_target_properties(ms_tests PROPERTIES BUILD_RPATH "${MS_ONEDNN_FOUND}/lib")
endif()
