# What the core links: OpenMP, oneDNN (from its PyPI wheel), Eigen, fmt and nlohmann's JSON (headers),
# SQLite (its static library), collected in the interface library ms_dependencies. Nothing of Debian's
# ends up as a run-time need.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)

function(ms_require_header variable header package)
  find_path(${variable} ${header} PATH_SUFFIXES eigen3)
  if(NOT ${variable})
    message(FATAL_ERROR "${header} was not found. On Debian: apt-get install ${package}, "
                        "or run scripts/setup_system, which installs all that a build needs.")
  endif()
endfunction()
ms_require_header(MS_EIGEN_INCLUDE Eigen/Core libeigen3-dev)
ms_require_header(MS_FMT_INCLUDE fmt/format-inl.h libfmt-dev)
ms_require_header(MS_JSON_INCLUDE nlohmann/json.hpp nlohmann-json3-dev)
ms_require_header(MS_SQLITE_INCLUDE sqlite3.h libsqlite3-dev)
find_library(MS_SQLITE_LIBRARY libsqlite3.a REQUIRED)

# Of SQLite in the core nobody outside sees anything: Python has another one.
add_library(ms_sqlite STATIC IMPORTED)
set_target_properties(ms_sqlite PROPERTIES
  IMPORTED_LOCATION "${MS_SQLITE_LIBRARY}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${MS_SQLITE_INCLUDE}"
  INTERFACE_LINK_LIBRARIES "m;${CMAKE_DL_LIBS}")

# libjpeg-turbo, its static library: what is used of it becomes a part of libms_core.so, of which nobody outside sees anything.
ms_require_header(MS_JPEG_INCLUDE jpeglib.h libjpeg-dev)
find_library(MS_JPEG_LIBRARY libjpeg.a)
if(NOT MS_JPEG_LIBRARY)
  message(FATAL_ERROR "libjpeg.a was not found. On Debian: apt-get install libjpeg-dev.")
endif()

# oneDNN: the wheel puts headers and libraries under the prefix of its environment; its own
# metadata is the one place that knows which prefix that is, also inside pip's build isolation.
if(NOT MS_ONEDNN_ROOT)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/find_onednn.py"
    OUTPUT_VARIABLE MS_ONEDNN_FOUND OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE MS_ONEDNN_ERROR RESULT_VARIABLE MS_ONEDNN_RESULT)
  if(NOT MS_ONEDNN_RESULT EQUAL 0)
    message(FATAL_ERROR "${MS_ONEDNN_ERROR}")
  endif()
else()
  set(MS_ONEDNN_FOUND "${MS_ONEDNN_ROOT}")
endif()
foreach(needed include/dnnl.hpp lib/libdnnl.so)
  if(NOT EXISTS "${MS_ONEDNN_FOUND}/${needed}")
    message(FATAL_ERROR "oneDNN: ${MS_ONEDNN_FOUND}/${needed} does not exist. Install the packages "
                        "onednn-cpu-gomp and onednn-devel-cpu-gomp, or set MS_ONEDNN_ROOT.")
  endif()
endforeach()
message(STATUS "oneDNN: ${MS_ONEDNN_FOUND}")
add_library(ms_onednn SHARED IMPORTED)
set_target_properties(ms_onednn PROPERTIES
  IMPORTED_LOCATION "${MS_ONEDNN_FOUND}/lib/libdnnl.so"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${MS_ONEDNN_FOUND}/include"
  INTERFACE_INCLUDE_DIRECTORIES "${MS_ONEDNN_FOUND}/include")

add_library(ms_dependencies INTERFACE)
target_include_directories(ms_dependencies SYSTEM INTERFACE "${MS_EIGEN_INCLUDE}" "${MS_FMT_INCLUDE}" "${MS_JSON_INCLUDE}")
# Eigen would run its own threads beside ours, and MPL2_ONLY keeps its LGPL corners out.
target_compile_definitions(ms_dependencies INTERFACE EIGEN_DONT_PARALLELIZE EIGEN_MPL2_ONLY)
file(STRINGS "${MS_FMT_INCLUDE}/fmt/core.h" MS_FMT_VERSION_LINE REGEX "define FMT_VERSION [0-9]+")
if(NOT MS_FMT_VERSION_LINE MATCHES "FMT_VERSION 9[0-9][0-9][0-9][0-9]")
  target_compile_definitions(ms_dependencies INTERFACE FMT_HEADER_ONLY)
endif()
# Its compiled half, for each library that uses it: none shows it to others.
add_library(ms_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/fmt_library.cc")
target_include_directories(ms_fmt SYSTEM PRIVATE "${MS_FMT_INCLUDE}")
target_link_libraries(ms_dependencies INTERFACE ms_fmt OpenMP::OpenMP_CXX ${CMAKE_DL_LIBS})
