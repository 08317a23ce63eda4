# A wheel for other machines (scripts/release sets MS_PORTABLE to a folder that it has made): the module and its libraries are
# linked against what glibc 2.28 has (MS_PORTABLE/glibc) and hold their own libstdc++, of which nobody outside sees anything;
# libgomp lies beside oneDNN, both in MS_PORTABLE/lib. Code is compiled as ever.
if(NOT MS_PORTABLE)
  return()
endif()
set(MS_PORTABLE_FILES "${CMAKE_CURRENT_SOURCE_DIR}/cmake/portable")
enable_language(C)
add_library(ms_portable OBJECT "${MS_PORTABLE_FILES}/newer_than_2_28.c")
foreach(target _core ms_core ms_cpu ms_cuda)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:ms_portable>)
  target_link_options(${target} PRIVATE -static-libstdc++ "-L${MS_PORTABLE}/glibc" -Wl,--no-undefined-version)
endforeach()
target_link_options(_core PRIVATE "-Wl,--version-script=${MS_PORTABLE_FILES}/exports.map")
install(DIRECTORY "${MS_PORTABLE}/lib/" DESTINATION mindspore/lib)
