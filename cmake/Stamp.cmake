# What a device in a library of its own was built against (kernel/plugin.h): the version, the C++ interface, and a hash of the
# headers that it may include, which are installed with the package.
set(MS_PUBLIC_FOLDERS base tensor ir kernel)
set(MS_PUBLIC_HEADERS "")
foreach(folder ${MS_PUBLIC_FOLDERS})
  file(GLOB headers CONFIGURE_DEPENDS "${MS_SOURCE_ROOT}/${folder}/*.h")
  list(APPEND MS_PUBLIC_HEADERS ${headers})
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${MS_PUBLIC_HEADERS})
set(hashes "")
foreach(header ${MS_PUBLIC_HEADERS})
  file(SHA256 "${header}" hash)
  string(APPEND hashes "${hash}")
endforeach()
string(SHA256 MS_STAMP "${hashes}")
string(SUBSTRING "${MS_STAMP}" 0 16 MS_STAMP)
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/mindspore/python/mindspore/version.py" version REGEX "__version__ = ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${version}")
set(MS_GENERATED "${CMAKE_CURRENT_BINARY_DIR}/generated")
file(CONFIGURE OUTPUT "${MS_GENERATED}/ms_stamp.h" CONTENT [[
// What this was built as; see kernel/plugin.h.
#pragma once

#define MS_STAMP_TEXT(x) #x
#define MS_STAMP_OF(abi, strings) "mindspore @version@, headers @MS_STAMP@, C++ " MS_STAMP_TEXT(abi) "." MS_STAMP_TEXT(strings)
#define MS_STAMP MS_STAMP_OF(__GXX_ABI_VERSION, _GLIBCXX_USE_CXX11_ABI)
]] @ONLY)

# The headers, and those of fmt that they include, which have no other parts here.
foreach(folder ${MS_PUBLIC_FOLDERS})
  install(DIRECTORY "${MS_SOURCE_ROOT}/${folder}" DESTINATION mindspore/include FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES "${MS_GENERATED}/ms_stamp.h" DESTINATION mindspore/include)
include(CMakePackageConfigHelpers)
string(REGEX MATCH "^[0-9.]*[0-9]" release "${version}")  # find_package knows numbers only
write_basic_package_version_file("${MS_GENERATED}/mindsporeConfigVersion.cmake" VERSION "${release}" COMPATIBILITY ExactVersion)
install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/cmake/mindsporeConfig.cmake" "${MS_GENERATED}/mindsporeConfigVersion.cmake"
        DESTINATION mindspore/include/cmake)
install(FILES "${MS_FMT_INCLUDE}/fmt/core.h" "${MS_FMT_INCLUDE}/fmt/format.h" "${MS_FMT_INCLUDE}/fmt/format-inl.h"
              "${MS_FMT_INCLUDE}/fmt/ranges.h" DESTINATION mindspore/include/fmt)
