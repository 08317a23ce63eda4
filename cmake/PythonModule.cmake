# The extension module mindspore._core. A developer's build drops it into the Python tree;
# a wheel build (scikit-build-core sets SKBUILD) installs it into the package.
if(NOT Python_Development.Module_FOUND)
  message(FATAL_ERROR "Python.h was not found for ${Python_EXECUTABLE}. On Debian: apt-get install python3-dev.")
endif()
execute_process(COMMAND "${Python_EXECUTABLE}" -m pybind11 --cmakedir
                OUTPUT_VARIABLE MS_PYBIND11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(pybind11 3.0 CONFIG REQUIRED HINTS "${MS_PYBIND11_DIR}")

file(GLOB_RECURSE MS_PYTHON_SOURCES CONFIGURE_DEPENDS "${MS_SOURCE_ROOT}/python/*.cc")
if(NOT MS_PYTHON_SOURCES)
  message(WARNING "no source files in mindspore/ccsrc/python: _core is left out")
  return()
endif()
pybind11_add_module(_core MODULE NO_EXTRAS ${MS_PYTHON_SOURCES})
target_link_libraries(_core PRIVATE ms_core)
target_link_options(_core PRIVATE -Wl,--wrap=__gxx_personality_v0)  # see python/unwinding.cc
ms_precompile(_core <pybind11/pybind11.h> <pybind11/stl.h> <pybind11/numpy.h>)

add_dependencies(_core ms_cpu ms_cuda)
ms_find_beside(_core)
if(NOT DEFINED SKBUILD)
  set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${MS_LIBRARY_FOLDER}")
endif()
install(TARGETS _core LIBRARY DESTINATION mindspore)
if(NOT MS_PORTABLE)
  file(REAL_PATH "${MS_ONEDNN_FOUND}/lib/libdnnl.so" MS_ONEDNN_LIBRARY)
  install(FILES "${MS_ONEDNN_LIBRARY}" DESTINATION mindspore/lib RENAME libdnnl.so.3)
endif()
foreach(notice LICENSE THIRD-PARTY-PROGRAMS)
  install(FILES "${MS_ONEDNN_FOUND}/share/doc/onednn/${notice}" DESTINATION mindspore/lib
          RENAME "oneDNN-${notice}" OPTIONAL)
endforeach()
include(Portable)
