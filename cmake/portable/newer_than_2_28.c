// What the static libstdc++ and our own code call of glibc that version 2.28 does not have, in terms of what it has. Only built
// into wheels for other machines (MS_PORTABLE); nothing of it is visible outside the extension module.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>

#define MS_HERE __attribute__((visibility("hidden")))

// The number of the layout of struct stat that __xstat and its like take on x86-64.
enum { kStatVersion = 1 };
int __xstat(int version, const char* path, struct stat* result);
int __lxstat(int version, const char* path, struct stat* result);
int __fxstat(int version, int file, struct stat* result);

MS_HERE int stat(const char* path, struct stat* result) { return __xstat(kStatVersion, path, result); }
MS_HERE int lstat(const char* path, struct stat* result) {
  return __lxstat(kStatVersion, path, result);
}
MS_HERE int fstat(int file, struct stat* result) { return __fxstat(kStatVersion, file, result); }
// On x86-64 sizes have 64 bits with either name.
MS_HERE int fstat64(int file, struct stat64* result) {
  return __fxstat(kStatVersion, file, (struct stat*)result);
}
MS_HERE int stat64(const char* path, struct stat64* result) {
  return __xstat(kStatVersion, path, (struct stat*)result);
}
MS_HERE int lstat64(const char* path, struct stat64* result) {
  return __lxstat(kStatVersion, path, (struct stat*)result);
}

// "There may be several threads": then counts of references are always atomic.
MS_HERE char __libc_single_threaded = 0;

// For std::random_device.
MS_HERE uint32_t arc4random(void) {
  uint32_t bits = 0;
  while (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits)) {
  }
  return bits;
}
