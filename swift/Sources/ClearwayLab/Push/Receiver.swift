// SPDX-License-Identifier: MIT OR Apache-2.0
import Dispatch

/// Records every arrival.
///
/// One thread at a time may call `receive`, and each call happens before the next.
///
/// Read the figures after `waitForEnd` has returned true.
final class Receiver: @unchecked Sendable {
  private(set) var received = 0

  /// The number of events that arrived after a later one.
  private(set) var reordered = 0

  /// The number of events that arrived twice, or that nobody sent.
  private(set) var wrong = 0

  private let count: Int
  private var newest = -1
  private let sentNs: UnsafeMutableBufferPointer<Int64>
  private let arrivedNs: UnsafeMutableBufferPointer<Int64>
  private let delayNs: UnsafeMutableBufferPointer<Int64>
  private let done = DispatchSemaphore(value: 0)

  init(count: Int) {
    self.count = count
    sentNs = .allocate(capacity: count)
    arrivedNs = .allocate(capacity: count)
    delayNs = .allocate(capacity: count)
    // Writes every page before the run, so that no arrival has a page fault.
    for buffer in [sentNs, arrivedNs, delayNs] { buffer.initialize(repeating: -1) }
  }

  deinit {
    for buffer in [sentNs, arrivedNs, delayNs] { buffer.deallocate() }
  }

  func receive(_ event: Event) {
    let now = nowNs()
    guard event.i >= 0, event.i < count, sentNs[event.i] == -1 else {
      wrong += 1
      return
    }
    sentNs[event.i] = event.sentNs
    arrivedNs[received] = now
    delayNs[received] = now - event.sentNs
    if event.i < newest { reordered += 1 } else { newest = event.i }
    received += 1
    if received == count { done.signal() }
  }

  /// Says that no further event will arrive.
  func end() {
    done.signal()
  }

  /// Waits for all events, or for `end`.
  ///
  /// Returns false after `seconds`.
  func waitForEnd(seconds: Double) -> Bool {
    done.wait(timeout: .now() + seconds) == .success
  }

  /// The delay of each event that arrived, in the order of arrival.
  var delays: UnsafeBufferPointer<Int64> { UnsafeBufferPointer(rebasing: delayNs[..<received]) }

  /// Events per second, from the first stamp to the last arrival.
  var throughput: Double {
    guard received > 0, let first = sentNs.first(where: { $0 != -1 }) else { return 0 }
    return Double(received) / (Double(max(1, arrivedNs[received - 1] - first)) / 1e9)
  }

  /// The largest number of events that had been sent and had not arrived.
  ///
  /// Lost events do not count.
  var backlogMax: Int {
    let stamps = sentNs.filter { $0 != -1 }
    var (most, sent) = (0, 0)
    for arrival in 0..<received {
      while sent < stamps.count, stamps[sent] <= arrivedNs[arrival] { sent += 1 }
      most = max(most, sent - arrival)
    }
    return most
  }
}
