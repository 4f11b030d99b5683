// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// One round trip.
///
/// Times are in milliseconds.
public struct PingSample: Sendable, Hashable, Codable {
  /// The time since the first ping was sent.
  public let atMs: Double
  public let roundTripMs: Double
  /// A reading of the peer's clock, or nil if the peer sent none.
  public let remoteTimeMs: Double?
}

/// Mean one-way times, in milliseconds, estimated from the peer's clock.
public struct OneWay: Sendable, Hashable, Codable {
  /// The peer's clock minus this one.
  public let clockOffsetMs: Double
  /// The error of the offset and of each one-way time, plus or minus.
  ///
  /// 0 if both sides read the same clock. Valid if neither clock drifts.
  public let errorMs: Double
  public let thereMsMean: Double
  public let backMsMean: Double
}

/// The round trips of one series, in milliseconds.
///
/// A quantile is nil if fewer than 20 samples lie beyond it.
public struct RoundTrips: Sendable, Hashable, Codable {
  public let n: Int
  public let min: Double
  public let mean: Double
  public let max: Double
  public let p50: Double?
  public let p90: Double?
  public let p99: Double?
}

/// The report of a series of round trips.
public struct PingReport: Sendable, Hashable {
  public let samples: [PingSample]
  public let roundTripMs: RoundTrips
  /// The one-way times, or nil if the peer does not send its clock.
  public let oneWay: OneWay?

  /// The report as one line of JSON, in the format of the meters of the other languages.
  ///
  /// Allocates at each access.
  public var json: String { jsonOf(self) }

  /// The figures in one or two lines.
  public var text: String {
    let all = roundTripMs
    if all.n == 0 { return "no ping came back" }
    let quantiles = [("p50", all.p50), ("p90", all.p90), ("p99", all.p99)]
      .compactMap { name, value in value.map { ", \(name) \(inMs($0))" } }.joined()
    let trips =
      "round trip over \(all.n): min \(inMs(all.min)), mean \(inMs(all.mean)), "
      + "max \(inMs(all.max))\(quantiles)"
    guard let oneWay else { return trips }
    return trips
      + "\none way: there \(inMs(oneWay.thereMsMean)), back \(inMs(oneWay.backMsMean)), "
      + "each within \(inMs(oneWay.errorMs))"
  }
}

extension Meter {
  /// Sends `count` tasks to a thread, one after another, and waits for each.
  ///
  /// The one-way times are exact, because both ends read the same clock. If the task's cancellation
  /// ends the series early, the report covers the pings that came back. A ping that the target loses
  /// is waited for without end.
  ///
  /// - Parameter intervalMs: The time between the starts of two pings. 0 sends each when the one
  ///   before has come back.
  /// - Throws: A ``MeterError`` for a count below 1 or an interval that is negative or not finite.
  public static func ping(
    _ target: MeterTarget, count: Int = 20, intervalMs: Double = 0
  ) async throws -> PingReport {
    try await pings(count, intervalMs, sameClock: true) {
      await withCheckedContinuation { answer in
        let waiting = Locked<CheckedContinuation<Double?, Never>?>(answer)
        // The function may run more than once if the application's executor is wrong.
        target.submit { waiting.with { $0.take() }?.resume(returning: Watcher.nowMs()) }
      }
    }
  }

  /// Makes `count` round trips, one after another.
  ///
  /// `trip` makes one, and returns a reading of the peer's own clock in milliseconds, whose zero may
  /// be anything, or nil.
  ///
  /// - Throws: The error of `trip`; a ``MeterError`` for a count below 1 or an interval that is
  ///   negative or not finite.
  public static func ping(
    count: Int = 20, intervalMs: Double = 0, _ trip: @Sendable () async throws -> Double?
  ) async throws -> PingReport {
    try await pings(count, intervalMs, sameClock: false, trip)
  }

  private static func pings(
    _ count: Int, _ intervalMs: Double, sameClock: Bool,
    _ trip: @Sendable () async throws -> Double?
  ) async throws -> PingReport {
    guard count >= 1 else { throw MeterError.invalid("count must be 1 or more: count=\(count)") }
    guard intervalMs >= 0, intervalMs.isFinite else {
      throw MeterError.invalid("intervalMs must be 0 or more: intervalMs=\(intervalMs)")
    }
    var trips: [Trip] = []
    var dueMs = Watcher.nowMs()
    while trips.count < count, !Task.isCancelled {
      let waitMs = dueMs - Watcher.nowMs()
      // Swift ends the process if a time has too many digits.
      if waitMs > 0 { try? await Task.sleep(for: .milliseconds(min(waitMs, 1e12))) }
      if Task.isCancelled { break }
      let sentMs = Watcher.nowMs()
      dueMs = sentMs + intervalMs
      let remoteMs = try await trip()
      trips.append(Trip(sentMs: sentMs, remoteMs: remoteMs, backMs: Watcher.nowMs()))
    }
    return pingReport(trips, sameClock: sameClock)
  }
}

/// A round trip.
///
/// `sentMs` and `backMs` are on this clock, `remoteMs` is on the peer's.
struct Trip {
  let sentMs: Double
  let remoteMs: Double?
  let backMs: Double
}

/// Returns the report of a series.
///
/// Reads no clock.
func pingReport(_ trips: [Trip], sameClock: Bool) -> PingReport {
  let firstMs = trips.first?.sentMs ?? 0
  let samples = trips.map {
    PingSample(
      atMs: $0.sentMs - firstMs, roundTripMs: $0.backMs - $0.sentMs, remoteTimeMs: $0.remoteMs)
  }
  let sorted = samples.map(\.roundTripMs).sorted()
  let timed = trips.compactMap { trip in trip.remoteMs.map { (trip, $0) } }
  let count = Double(timed.count)
  let offset =
    sameClock && !timed.isEmpty ? (offsetMs: 0, errorMs: 0) : bestOffset(timed.map(\.0))
  return PingReport(
    samples: samples,
    roundTripMs: RoundTrips(
      n: sorted.count, min: sorted.first ?? 0,
      mean: sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count), max: sorted.last ?? 0,
      p50: quantile(sorted, 0.5), p90: quantile(sorted, 0.9), p99: quantile(sorted, 0.99)),
    oneWay: offset.map { offset in
      OneWay(
        clockOffsetMs: offset.offsetMs, errorMs: offset.errorMs,
        thereMsMean: timed.reduce(0) { $0 + $1.1 - offset.offsetMs - $1.0.sentMs } / count,
        backMsMean: timed.reduce(0) { $0 + $1.0.backMs + offset.offsetMs - $1.1 } / count)
    })
}

/// Returns the offset of the peer's clock from this one, and its error; nil without a trip that has
/// a reading.
///
/// Each trip bounds the offset by `remote - back` and `remote - sent`. The offset lies in the
/// intersection of all intervals; if they contradict each other, because the clocks drift, it comes
/// from the fastest trip. See `docs/meter.md`.
func bestOffset(_ trips: [Trip]) -> (offsetMs: Double, errorMs: Double)? {
  let timed = trips.compactMap { trip in
    trip.remoteMs.map { (low: $0 - trip.backMs, high: $0 - trip.sentMs) }
  }
  guard let fastest = timed.min(by: { $0.high - $0.low < $1.high - $1.low }) else { return nil }
  let low = timed.map(\.low).max() ?? fastest.low
  let high = timed.map(\.high).min() ?? fastest.high
  let bounds = low > high ? fastest : (low: low, high: high)
  return ((bounds.low + bounds.high) / 2, (bounds.high - bounds.low) / 2)
}
