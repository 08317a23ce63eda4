// What two declarations of one entry point have in common, when they are equal for a binary.
#pragma once

#include <type_traits>

// Handles are pointers to types of which nothing is known here; enumerations are int.
template <class T>
struct Plain {
  using type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <class T>
  requires(std::is_class_v<T>)
struct Plain<T*> {
  using type = void*;
};
template <class T>
  requires(!std::is_class_v<T>)
struct Plain<T*> {
  using type = typename Plain<T>::type*;
};
template <class T>
struct Plain<T* const> {
  using type = const typename Plain<T*>::type;
};
template <class R, class... A>
struct Plain<R (*)(A...)> {
  using type = typename Plain<R>::type (*)(typename Plain<A>::type...);
};

// Ours of `Table` against theirs.
#define DECLARED_ALIKE(Table, name, theirs, symbol)                                   \
  static_assert(std::is_same_v<typename Plain<decltype(ms::cuda::Table::name)>::type, \
                               typename Plain<decltype(&theirs)>::type>,              \
                symbol)
