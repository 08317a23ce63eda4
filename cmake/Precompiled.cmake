# Headers of others that most files include are parsed once for each target, which saves a fifth of a build's time. None is ours:
# so a change of our own headers rebuilds what includes them and no more.
set(MS_COMMON_HEADERS
    <algorithm> <array> <atomic> <cmath> <cstdint> <cstdlib> <cstring> <deque> <functional> <limits> <map> <memory> <mutex> <numeric>
    <optional> <set> <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <vector> <fmt/format.h>)

function(ms_precompile target)
  target_precompile_headers(${target} PRIVATE ${MS_COMMON_HEADERS} ${ARGN})
  # So that ccache can tell what a precompiled header was made from.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
