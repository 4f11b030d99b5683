// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Testing

@testable import ClearwayMeter

/// A clock that a test moves, and a thread that answers beats when the test says so.
private final class Fake: Sendable {
  private struct State: Sendable {
    var nowMs = 1000.0
    var queue: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())

  var nowMs: Double { state.with { $0.nowMs } }
  func wait(_ ms: Double) { state.with { $0.nowMs += ms } }
  func submit(_ task: @escaping @Sendable () -> Void) { state.with { $0.queue.append(task) } }

  /// Runs the tasks that wait in the thread's queue.
  func answer() {
    let tasks = state.with { state in
      defer { state.queue = [] }
      return state.queue
    }
    for task in tasks { task() }
  }

  var waiting: Int { state.with { $0.queue.count } }
}

@Suite("A monitor")
struct MonitorTests {
  private let fake = Fake()

  private func monitor(
    _ options: MeterOptions = MeterOptions(),
    submit: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
  ) -> HeartbeatMonitor {
    let monitor = HeartbeatMonitor(
      options: options, beatMs: 2, marks: Marks { [fake] in fake.nowMs },
      nowMs: { [fake] in fake.nowMs },
      openTimes: { nil }, submit: submit ?? { [fake] in fake.submit($0) })
    monitor.begin(fake.nowMs, startedAt: "2026-01-01T00:00:00Z")
    return monitor
  }

  /// Ticks on time while the thread answers at once.
  private func run(_ monitor: HeartbeatMonitor, beats: Int) {
    for _ in 0..<beats {
      let dueMs = monitor.tick()
      fake.answer()
      monitor.waits(from: fake.nowMs)
      fake.wait(dueMs - fake.nowMs)
    }
  }

  @Test("records no stall while the thread answers")
  func healthy() {
    let monitor = monitor()
    run(monitor, beats: 50)
    let report = monitor.report(fake.nowMs)
    #expect(report.stalls.isEmpty)
    #expect(report.durationMs == 100)
    #expect(report.host == "swift")
  }

  @Test("records one stall of the right length when the thread does not answer")
  func stall() throws {
    let monitor = monitor()
    run(monitor, beats: 10)
    for _ in 0..<50 {
      let dueMs = monitor.tick()
      monitor.waits(from: fake.nowMs)
      fake.wait(dueMs - fake.nowMs)
    }
    #expect(fake.waiting == 1)
    fake.answer()
    run(monitor, beats: 10)
    #expect(monitor.explain(fake.nowMs).count == 1)
    let stall = try #require(monitor.report(fake.nowMs).stalls.first)
    #expect(stall.lengthMs == 101)
    #expect(stall.errorMs == 1)
    #expect(stall.cause == .app)
  }

  @Test("blames the machine when the idle watcher was delayed too")
  func machine() throws {
    let monitor = monitor()
    run(monitor, beats: 10)
    _ = monitor.tick()
    monitor.waits(from: fake.nowMs)
    fake.wait(80)
    _ = monitor.tick()
    fake.answer()
    run(monitor, beats: 3)
    let stall = try #require(monitor.report(fake.nowMs).stalls.first)
    #expect(stall.cause == .machine)
    #expect(stall.because.hasPrefix("an idle watcher thread was held up too"))
  }

  @Test("measures a function that does not give the thread back exactly")
  func measured() throws {
    let monitor = monitor()
    run(monitor, beats: 2)
    let startMs = fake.nowMs
    fake.wait(30)
    monitor.blocked(startMs, fake.nowMs, "the import")
    let report = monitor.report(fake.nowMs)
    let stall = try #require(report.stalls.first)
    #expect(stall.lengthMs == 30)
    #expect(stall.because == "the import ran without giving the thread back")
    #expect(report.frames.dropped == 1)
  }

  @Test("counts a stall that goes on up to the end of the watch")
  func open() throws {
    let monitor = monitor()
    run(monitor, beats: 10)
    _ = monitor.tick()
    fake.wait(50)
    #expect(monitor.finish(fake.nowMs).count == 1)
    fake.answer()
    fake.wait(1000)
    #expect(monitor.finish(fake.nowMs).isEmpty)
    let report = monitor.report(fake.nowMs)
    #expect(report.stalls.count == 1)
    #expect(report.durationMs == 70)
  }

  @Test("drops the oldest stalls and covers the time after them when there are too many")
  func dropsOldest() {
    let monitor = monitor(MeterOptions(stallsMax: 4))
    for _ in 0..<6 {
      run(monitor, beats: 5)
      _ = monitor.tick()
      fake.wait(20)
      fake.answer()
      _ = monitor.tick()
      fake.answer()
      _ = monitor.explain(fake.nowMs)
    }
    let report = monitor.report(fake.nowMs)
    #expect(report.stalls.count + report.droppedStalls == 6)
    #expect(report.stalls.count <= 4)
    #expect(report.durationMs < fake.nowMs - 1000)
  }

  @Test("goes on when the target runs a beat at once, twice, or calls the monitor")
  func reentrant() {
    let held = Locked<HeartbeatMonitor?>(nil)
    let fake = self.fake
    let monitor = monitor { beat in
      beat()
      beat()
      _ = held.with { $0 }?.report(fake.nowMs)
      _ = held.with { $0 }?.explain(fake.nowMs)
    }
    held.with { $0 = monitor }
    run(monitor, beats: 20)
    #expect(monitor.answered)
    #expect(monitor.report(fake.nowMs).stalls.isEmpty)
    held.with { $0 = nil }
  }

  @Test("reports that it is still starting when the target loses every beat")
  func lost() {
    let monitor = monitor { _ in }
    run(monitor, beats: 20)
    #expect(monitor.finish(fake.nowMs).isEmpty)
    let report = monitor.report(fake.nowMs)
    #expect(report.stalls.isEmpty)
    #expect(
      report.sources.first
        == SourceState(name: "heartbeat", available: false, why: "still starting"))
  }

  @Test("names the marks that were open during a stall")
  func marks() throws {
    let marks = Marks { [fake] in fake.nowMs }
    let monitor = HeartbeatMonitor(
      options: MeterOptions(), beatMs: 2, marks: marks, nowMs: { [fake] in fake.nowMs },
      openTimes: { nil },
      submit: { [fake] in fake.submit($0) })
    monitor.begin(fake.nowMs, startedAt: "")
    run(monitor, beats: 5)
    let mark = Mark(marks, "parse")
    for _ in 0..<20 {
      let dueMs = monitor.tick()
      monitor.waits(from: fake.nowMs)
      fake.wait(dueMs - fake.nowMs)
    }
    mark.end()
    fake.answer()
    run(monitor, beats: 2)
    let stall = try #require(monitor.report(fake.nowMs).stalls.first)
    #expect(stall.marks == [MarkShare(label: "parse", overlapMs: 40)])
    #expect(stall.because == "it fell into the mark \"parse\"")
  }

  @Test("writes the same text as the other meters")
  func text() {
    let monitor = monitor(MeterOptions(label: "import"))
    let startMs = fake.nowMs
    fake.wait(100)
    monitor.blocked(startMs, fake.nowMs, "the import")
    fake.wait(900)
    let lines = monitor.report(fake.nowMs).description.split(separator: "\n").map(String.init)
    #expect(lines[0] == "import: held once, 100 ms of 1000 ms, at most 100 ms at a time.")
    #expect(lines[1] == "  total time        1000 ms")
    #expect(lines[3] == "  mean lag          5.00 ms for an event at a random moment")
    #expect(lines[4] == "  hitches at 60 Hz  83.3 ms/s: critical (newer scale: critical)")
    #expect(lines[5] == "  dropped frames    5 of 60 at 60 Hz, estimated")
  }

  @Test("is refused when an option is out of range with its name and value")
  func options() {
    for (options, message) in [
      (MeterOptions(hz: 0), "hz must be over 0, at most 1000: hz=0.0"),
      (MeterOptions(hz: .nan), "hz must be over 0, at most 1000: hz=nan"),
      (MeterOptions(floorMs: 0.5), "floorMs must be 1 or more: floorMs=0.5"),
      (MeterOptions(beatMs: 0), "beatMs must be 1 to 1000: beatMs=0.0"),
      (MeterOptions(stallsMax: 0), "stallsMax must be 1 or more: stallsMax=0"),
    ] {
      #expect(throws: MeterError(code: .invalidArgument, message: message)) {
        _ = try Meter.watch(options: options)
      }
    }
  }

  @Test(
    "runs on a real queue, and ends its stream of stalls when it is closed", .timeLimit(.minutes(2))
  )
  func real() async throws {
    let watch = try Meter.watch(.queue(.init(label: "watched")))
    await watch.ready()
    #expect(watch.report.sources.first?.available == true)
    #if DEBUG
      #expect(watch.report.description.contains("not seen: optimised code (this is a debug build"))
    #endif
    watch.close()
    watch.close()
    for await _ in watch.stalls {}
  }

  @Test("measures the main actor and throws the function's error", .timeLimit(.minutes(2)))
  func mainActor() async throws {
    struct Broken: Error {}
    let measurement = try await Meter.measure { 5 }
    #expect(measurement.value == 5)
    let later = try await Meter.measure { () async in
      await Task.yield()
      return 6
    }
    #expect(later.value == 6)
    await #expect(throws: Broken.self) { try await Meter.measure { throw Broken() } }
  }
}

/// Timers that probe when the test says so.
private final class FakeTimers: ProbeTimers {
  private struct State: Sendable {
    var nowMs = 0.0
    var act: (@MainActor @Sendable () -> Void)?
  }

  private let state = Locked(State())

  var isRunning: Bool { state.with { $0.act != nil } }
  func nowMs() -> Double { state.with { $0.nowMs } }

  func every(ms: Int, _ act: @escaping @MainActor @Sendable () -> Void) -> @Sendable () -> Void {
    state.with { $0.act = act }
    return { [state] in state.with { $0.act = nil } }
  }

  @MainActor func probe(after ms: Double) {
    let act = state.with { state in
      state.nowMs += ms
      return state.act
    }
    act?()
  }
}

@MainActor
@Suite("measureFrameDrops")
struct FrameDropsTests {
  @Test("counts each further frame interval within one lag as a dropped frame")
  func drops() async throws {
    let timers = FakeTimers()
    let (value, drops) = try await measureFrameDrops(timers: timers) {
      timers.probe(after: 1)
      timers.probe(after: 1)
      timers.probe(after: 1001)
      return 3
    }
    #expect(value == 3)
    #expect(drops.probes == 4)
    #expect(drops.totalMs == 1003)
    #expect(drops.dropped == 59)
    #expect(drops.droppedAsPublished == 63)
    #expect(drops.lagsMs == [1, 1, 1001, 0])
    #expect(drops.drops == [FrameDrop(startMs: 2, lagMs: 1001)])
    #expect(drops.verdict == "Jank: 59 frames dropped, max lag 1001 ms")
    #expect(!timers.isRunning)
  }

  @Test("finds a smooth run smooth")
  func smooth() async throws {
    let timers = FakeTimers()
    let drops = try await measureFrameDrops(hz: 120, timers: timers) {
      for _ in 0..<3 { timers.probe(after: 2) }
    }.drops
    #expect(drops.verdict == "Smooth: max lag 2 ms, average 1.5 ms, 4 probes")
  }

  @Test("stops its timer and throws the function's error when the function throws")
  func failure() async throws {
    struct Broken: Error {}
    let timers = FakeTimers()
    await #expect(throws: Broken.self) {
      try await measureFrameDrops(timers: timers) { throw Broken() }
    }
    #expect(!timers.isRunning)
    await #expect(throws: MeterError.self) { try await measureFrameDrops(hz: 0, timers: timers) {} }
  }
}

@Suite("A ping")
struct PingTests {
  @Test("reports each round trip, and the one-way times between two clocks")
  func report() throws {
    let trips = [
      Trip(sentMs: 0, remoteMs: 1001, backMs: 10), Trip(sentMs: 20, remoteMs: 1029, backMs: 30),
    ]
    let report = pingReport(trips, sameClock: false)
    #expect(report.samples.map(\.atMs) == [0, 20])
    #expect(report.roundTripMs.mean == 10)
    #expect(report.roundTripMs.p50 == nil)
    #expect(
      report.oneWay == OneWay(clockOffsetMs: 1000, errorMs: 1, thereMsMean: 5, backMsMean: 5))
    #expect(
      report.text
        == "round trip over 2: min 10.0 ms, mean 10.0 ms, max 10.0 ms\n"
        + "one way: there 5.00 ms, back 5.00 ms, each within 1.00 ms")
    #expect(report.json.hasPrefix(#"{"kind":"clearway-ping","version":1,"samples":[{"atMs":0,"#))
  }

  @Test("to a thread asks it once for each trip, and its one-way times have no error")
  func thread() async throws {
    let asked = Locked(0)
    let target = MeterTarget { task in
      asked.with { $0 += 1 }
      Task { task() }
    }
    let report = try await Meter.ping(target, count: 7)
    #expect(report.roundTripMs.n == 7)
    #expect(asked.with { $0 } == 7)
    #expect(report.oneWay?.errorMs == 0)
  }

  @Test("without the peer's clock has no one-way times")
  func noClock() async throws {
    let report = try await Meter.ping(count: 3) { nil }
    #expect(report.roundTripMs.n == 3)
    #expect(report.oneWay == nil)
  }

  @Test("throws the error of its trip, and reports what came back before it was cancelled")
  func ends() async throws {
    struct Lost: Error {}
    await #expect(throws: Lost.self) { _ = try await Meter.ping { throw Lost() } }
    let series = Task {
      try await Meter.ping(count: 100) {
        withUnsafeCurrentTask { $0?.cancel() }
        return 1
      }
    }
    #expect(try await series.value.roundTripMs.n == 1)
  }

  @Test("refuses a count below 1 and an interval that is negative or endless")
  func options() async {
    await #expect(throws: MeterError.self) { _ = try await Meter.ping(count: 0) { nil } }
    for intervalMs in [-1, Double.nan, .infinity] {
      await #expect(throws: MeterError.self) {
        _ = try await Meter.ping(intervalMs: intervalMs) { nil }
      }
    }
  }
}
