// SPDX-License-Identifier: MIT OR Apache-2.0
import Dispatch

/// One event.
///
/// It carries the time from which its delay counts: the stamp, or the intended time.
struct Event: Sendable {
  let i: Int
  let sentNs: Int64
  let body: [UInt8]?
}

/// The events to send, and when.
struct Load: Sendable {
  enum Loop: Sendable {
    /// Each event has an intended time, which is fixed before the run.
    ///
    /// The sender spins shortly before it.
    case open
    /// As published: the sender stamps an event, hands it over, and sleeps.
    ///
    /// A late sender delays all later events.
    case closed
  }

  let count: Int

  /// Events per second. 0 means back to back.
  let perSecond: Double
  let payloadBytes: Int
  let loop: Loop

  init(count: Int, perSecond: Double, payloadBytes: Int = 8, loop: Loop) {
    self.count = count
    self.perSecond = perSecond
    self.payloadBytes = payloadBytes
    self.loop = loop
  }

  init(_ cell: Cell) throws {
    _ = try cell.text("receiver", among: ["idle"])
    let perSecond = try cell.number("perSecond")
    guard perSecond >= 0, perSecond <= 1e6 else {
      throw LabError("the parameter must be from 0 to 1000000: perSecond=\(perSecond)")
    }
    let count = try cell.int("count", atLeast: 1)
    guard count <= 100_000_000 else { throw LabError("more than 100000000 events: count=\(count)") }
    let loop = try cell.text("loop", among: ["open", "closed"])
    let payload = try cell.int("payloadBytes", atLeast: 0)
    guard payload <= 1 << 30 else { throw LabError("more than 1 GB: payloadBytes=\(payload)") }
    self.init(
      count: count, perSecond: perSecond, payloadBytes: payload,
      loop: loop == "open" ? .open : .closed)
  }

  var isBackToBack: Bool { perSecond == 0 }

  var stepNs: Double { isBackToBack ? 0 : 1e9 / perSecond }

  /// The time that all events take, in seconds.
  var seconds: Double { isBackToBack ? 0 : Double(count) / perSecond }

  /// Returns a new body of non-zero bytes.
  ///
  /// The smallest payload is the event's time itself.
  func body() -> [UInt8]? {
    payloadBytes <= 8 ? nil : [UInt8](repeating: 7, count: payloadBytes)
  }

  /// Returns the intended time of the first event: in 5 ms, so that the start makes no event
  /// late.
  func firstNs() -> Int64 { nowNs() + (isBackToBack ? 0 : 5_000_000) }
}

/// Time in front of an event's intended time in which a sender spins, because a sleeping thread
/// wakes late.
private let awakeNs: Int64 = 150_000

/// Sends every event of an open loop from the calling thread at the pace of the load.
///
/// Blocks.
func emit(_ load: Load, _ send: (Event) -> Void) {
  let first = load.firstNs()
  for i in 0..<load.count {
    if load.isBackToBack {
      send(Event(i: i, sentNs: nowNs(), body: load.body()))
    } else {
      let time = first + Int64(Double(i) * load.stepNs)
      sleepNs(time - awakeNs - nowNs())
      while nowNs() < time {}
      send(Event(i: i, sentNs: time, body: load.body()))
    }
  }
}

/// Sends every event from the calling task at the pace of the load.
///
/// Returns 0, because it drops no event.
func emitFromTask(_ load: Load, _ send: (Event) -> Void) async -> Int {
  let pacer = Pacer(load)
  while let event = await pacer.next() { send(event) }
  return 0
}

/// Makes the events of a closed loop at its pace, for senders that are tasks.
///
/// One task at a time may call it.
final class Pacer: @unchecked Sendable {
  private let load: Load
  private var i = 0

  init(_ load: Load) {
    self.load = load
  }

  /// Waits for the time of the next event, and returns it.
  ///
  /// After the last one, returns `nil`.
  func next() async -> Event? {
    guard i < load.count else { return nil }
    defer { i += 1 }
    if i > 0, !load.isBackToBack { try? await Task.sleep(nanoseconds: UInt64(load.stepNs)) }
    return Event(i: i, sentNs: nowNs(), body: load.body())
  }
}

/// Records every arrival.
///
/// One thread at a time may call `receive`, and each call happens before the next.
///
/// Read the figures after `waitForEnd` has returned true.
final class Receiver: @unchecked Sendable {
  private(set) var received = 0

  /// The number of events that arrived after a later one.
  private(set) var reordered = 0

  /// The number of events that arrived twice, or that no sender sent.
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
