# Of an installed package: the target mindspore::core, for devices in libraries of their own (docs/backends.md).
#   find_package(mindspore CONFIG REQUIRED)          with -Dmindspore_DIR=$(python -c "from mindspore import sysconfig; print(sysconfig.get_cmake_dir())")
#   add_library(my_device MODULE my_device.cc)
#   target_link_libraries(my_device PRIVATE mindspore::core)
get_filename_component(MINDSPORE_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
get_filename_component(MINDSPORE_PACKAGE "${MINDSPORE_INCLUDE}/.." ABSOLUTE)
if(NOT TARGET mindspore::core)
  add_library(mindspore::core SHARED IMPORTED)
  set_target_properties(mindspore::core PROPERTIES
    IMPORTED_LOCATION "${MINDSPORE_PACKAGE}/libms_core.so"
    INTERFACE_INCLUDE_DIRECTORIES "${MINDSPORE_INCLUDE}"
    INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
