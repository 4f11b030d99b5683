// SPDX-License-Identifier: MIT OR Apache-2.0
import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Returns the steady clock's time in nanoseconds.
@inline(__always)
func nowNs() -> Int64 {
  #if canImport(Darwin)
    return Int64(clock_gettime_nsec_np(CLOCK_UPTIME_RAW))
  #else
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  #endif
}

/// Blocks the thread for `ns`.
///
/// Goes on sleeping after a signal.
func sleepNs(_ ns: Int64) {
  guard ns > 0 else { return }
  var left = timespec(tv_sec: Int(ns / 1_000_000_000), tv_nsec: Int(ns % 1_000_000_000))
  var rest = timespec()
  while nanosleep(&left, &rest) != 0 && errno == EINTR { left = rest }
}

/// Returns the smallest step between two readings of the clock, in microseconds.
func clockStepUs() -> Double {
  var smallest = Int64.max
  for _ in 0..<200 {
    let begin = nowNs()
    var next = begin
    while next == begin { next = nowNs() }
    smallest = min(smallest, next - begin)
  }
  return Double(smallest) / 1000
}
