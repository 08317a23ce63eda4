# Compiler and linker settings shared by every target: the interface library ms_flags.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Dev = optimised, assertions on, no debug info: what a developer rebuilds all day.
set(CMAKE_CXX_FLAGS_DEV "-O3 -g0" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG" CACHE STRING "" FORCE)

# For the sanitizers, which make -O3 slow to compile and hard to read.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1" CACHE STRING "" FORCE)

find_program(MS_CCACHE ccache)
if(MS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this it does not keep what precompiled headers are used for (Precompiled.cmake).
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros "${MS_CCACHE}")
endif()

add_library(ms_flags INTERFACE)
# The two -fno flags let the compiler vectorise square roots and selects; results do not change.
target_compile_options(ms_flags INTERFACE -Wall -Wextra -fno-math-errno -fno-trapping-math)
# False alarms of GCC 12 inside fmt and std::string.
target_compile_options(ms_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)
# Clang does not know GCC's pragmas about loops, and vectorises without.
target_compile_options(ms_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
find_program(MS_MOLD mold)
if(MS_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER 12)
  target_link_options(ms_flags INTERFACE -fuse-ld=mold)
endif()
if(MS_SANITIZE)
  target_compile_options(ms_flags INTERFACE -fsanitize=${MS_SANITIZE} -fno-omit-frame-pointer
                                            -fno-sanitize-recover=all)
  target_link_options(ms_flags INTERFACE -fsanitize=${MS_SANITIZE})
endif()
