// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions of glibc 2.38 that the static libraries of Swift 6.0 from Debian 13 use, for systems with an older glibc. scripts/swift.mjs
// links this file into the products there. The symbols are the program's own, so a newer glibc at run time does no harm.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long double fmodl(long double, long double);

// Exact: the remainder of two doubles is a double.
double fmod(double x, double y) { return (double)fmodl(x, y); }
float fmodf(float x, float y) { return (float)fmodl(x, y); }

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int result = vsscanf(text, format, arguments);
  va_end(arguments);
  return result;
}

size_t strlcpy(char *to, const char *from, size_t room) {
  size_t length = strlen(from);
  if (room) {
    size_t kept = length < room ? length : room - 1;
    memcpy(to, from, kept);
    to[kept] = 0;
  }
  return length;
}

size_t strlcat(char *to, const char *from, size_t room) {
  size_t length = 0;
  while (length < room && to[length]) length++;
  return length == room ? room + strlen(from) : length + strlcpy(to + length, from, room - length);
}
