// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// Puts beats into the watched thread's queue, and detects that the thread does not answer them.
///
/// A beat is a task that records when it ran. Only one beat is in the queue at a time, so a stall
/// of a second leaves one task there. One thread calls `tick`; any thread may call the rest. No
/// code of the application runs under the lock.
///
/// ```
/// monitor  | tick: sends | tick: answered, sends | tick: not answered | ...                | tick: answered
/// watched  |   answers   |        blocked for long .......................................| answers |
/// ```
final class HeartbeatMonitor: Sendable {
  /// A task in the watched thread's queue.
  final class Beat: Sendable {
    struct Answer {
      let atMs: Double
      let thread: UInt
    }

    let sentMs: Double
    let wokeLateMs: Double
    fileprivate let answer = Locked<Answer?>(nil)

    init(sentMs: Double, wokeLateMs: Double) {
      self.sentMs = sentMs
      self.wokeLateMs = wokeLateMs
    }
  }

  private struct State {
    var recorder: Recorder
    var detector: BeatDetector
    var beat: Beat?
    var dueMs: Double
    var idleFromMs: Double
    var answersFromMs = 0.0
    var recordedUntilMs: Double
    var times: ThreadTimes?
    var last: (ranMs: Double, waitedMs: Double)?
    var thread: UInt?
    var isOneThread = true
    var answered = false
    var isOver = false
  }

  /// A wake that is later than this, in ms, counts as a delay by the machine.
  ///
  /// A healthy one is a tenth of this.
  private static let lateMsMin = 2.5
  /// Shortest time between two ticks, as a part of `beatMs`.
  private static let beatPartMin = 0.75

  private let state: Locked<State>
  private let watchedThread = Locked<UInt?>(nil)
  private let options: MeterOptions
  private let beatMs: Double
  private let nowMs: @Sendable () -> Double
  private let submit: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let openTimes: @Sendable () -> ThreadTimes?
  private let openedTimes = Locked<(isOpen: Bool, times: ThreadTimes?)>((false, nil))

  init(
    options: MeterOptions, beatMs: Double, marks: Marks, nowMs: @escaping @Sendable () -> Double,
    openTimes: @escaping @Sendable () -> ThreadTimes? = { ThreadTimes() },
    submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.options = options
    self.beatMs = beatMs
    self.nowMs = nowMs
    self.submit = submit
    self.openTimes = openTimes
    let now = nowMs()
    let thread = watchedThread
    let recorder = Recorder(options) { fromMs, untilMs in
      marks.during(thread.with { $0 }, fromMs, untilMs)
    }
    state = Locked(
      State(
        recorder: recorder, detector: BeatDetector(floorMs: options.floorMs), dueMs: now,
        idleFromMs: now,
        recordedUntilMs: now))
    state.with { $0.recorder.sources = Self.sources($0) }
  }

  /// Whether the first beat was answered.
  var answered: Bool { state.with { $0.answered } }

  /// Starts a run at `atMs`.
  func begin(_ atMs: Double, startedAt: String) {
    state.with { state in
      state.answersFromMs = atMs
      state.detector.restart(atMs)
      state.recorder.begin(atMs, startedAt: startedAt)
    }
  }

  /// Records that the watched thread ran `name` without returning to its loop.
  func blocked(_ startMs: Double, _ endMs: Double, _ name: String) {
    state.with { state in
      state.recorder.call(startMs, endMs, name)
      state.recorder.detected(
        DetectedStall(startMs: startMs, endMs: endMs, earliestMs: startMs, errorMs: 0.001))
      state.answersFromMs = endMs
      state.detector.blocked(until: endMs)
    }
  }

  /// Records that the calling thread only waits for the next tick from `atMs` on.
  func waits(from atMs: Double) { state.with { $0.idleFromMs = atMs } }

  /// Reads the clocks and sends a beat if none is open.
  ///
  /// Returns the time of the next tick.
  func tick() -> Double {
    let atMs = nowMs()
    let next: Beat? = state.with { state in
      let lateMs = atMs - state.dueMs
      let wakeMs = max(state.dueMs, state.idleFromMs)
      if atMs - wakeMs > Self.lateMsMin { state.recorder.watcherLate(wakeMs, atMs) }
      if let sent = state.beat {
        guard let answer = sent.answer.with({ $0 }) else { return nil }
        handle(sent, answer, &state)
      }
      return Beat(sentMs: nowMs(), wokeLateMs: lateMs > Self.lateMsMin ? lateMs : 0)
    }
    if let next { send(next) }
    // Counts from the due time. Otherwise a late wake would delay the next beat as well.
    return state.with { state in
      state.dueMs = max(state.dueMs + beatMs, nowMs() + beatMs * Self.beatPartMin)
      return state.dueMs
    }
  }

  private func send(_ beat: Beat) {
    let isSent = state.with { state in
      if !state.isOver { state.beat = beat }
      return !state.isOver
    }
    guard isSent else { return }
    submit { [nowMs, openTimes, openedTimes] in
      let isOpen = openedTimes.with { opened in
        defer { opened.isOpen = true }
        return opened.isOpen
      }
      if !isOpen {
        let times = openTimes()
        openedTimes.with { $0.times = times }
      }
      let answer = Beat.Answer(atMs: nowMs(), thread: currentThreadId())
      // The function may run more than once if the application's executor is wrong. The first
      // answer counts.
      beat.answer.with { $0 = $0 ?? answer }
    }
  }

  private func handle(_ sent: Beat, _ answer: Beat.Answer, _ state: inout State) {
    if state.thread != answer.thread {
      state.isOneThread = state.thread == nil && state.isOneThread
      state.thread = state.isOneThread ? answer.thread : nil
      let thread = state.thread
      watchedThread.with { $0 = thread }
    }
    if state.times == nil { state.times = openedTimes.with { $0.times } }
    state.answered = true
    state.beat = nil
    state.recorder.sources = Self.sources(state)
    recordTimes(answer.atMs, &state)
    // An answer from before the run, or from before a stall that is already known, adds nothing.
    guard answer.atMs >= state.answersFromMs else { return }
    if let stall = state.detector.beat(
      sentMs: sent.sentMs, answeredMs: answer.atMs, wokeLateMs: sent.wokeLateMs)
    {
      state.recorder.detected(stall)
    }
  }

  /// Records how long the thread ran, and waited for a core, since the last answer.
  ///
  /// Assumes that it waited right before this answer.
  private func recordTimes(_ answeredMs: Double, _ state: inout State) {
    let readMs = nowMs()
    defer { state.recordedUntilMs = readMs }
    guard state.isOneThread, let now = state.times?.read() else { return }
    defer { state.last = now }
    guard let last = state.last else { return }
    let waitedMs = now.waitedMs - last.waitedMs
    if waitedMs > 0 { state.recorder.queued(answeredMs - waitedMs, answeredMs) }
    // A shorter interval cannot contain a stall.
    if readMs - state.recordedUntilMs > options.floorMs / 2 {
      state.recorder.ran(state.recordedUntilMs, readMs, now.ranMs - last.ranMs)
    }
  }

  /// Explains every stall that ended by `untilMs`, and returns them.
  func explain(_ untilMs: Double) -> [Stall] { state.with { $0.recorder.explain(untilMs) } }

  /// Returns the report up to `atMs`.
  ///
  /// A stall that goes on is not part of it.
  func report(_ atMs: Double) -> StallReport { state.with { $0.recorder.report(atMs) } }

  /// Ends the watch at `atMs`.
  ///
  /// An open beat shows the stall up to then. A second call does nothing.
  func finish(_ atMs: Double) -> [Stall] {
    state.with { state in
      guard !state.isOver else { return [] }
      state.isOver = true
      if let open = state.beat {
        let answer = open.answer.with { $0 }
        let thread = answer?.thread ?? state.thread
        if answer != nil || state.answered {
          handle(
            open, Beat.Answer(atMs: min(atMs, answer?.atMs ?? atMs), thread: thread ?? 0), &state)
        }
      }
      state.beat = nil
      state.recorder.end(atMs)
      return state.recorder.explain(atMs)
    }
  }

  #if DEBUG
    private static let debugBuild: String? =
      "this is a debug build; measure one made with -c release"
  #else
    private static let debugBuild: String? = nil
  #endif

  private static func sources(_ state: State) -> [SourceState] {
    let why = state.answered ? nil : "still starting"
    func source(_ name: String, _ why: String?) -> SourceState {
      SourceState(name: name, available: why == nil, why: why)
    }
    let noTimes =
      why
      ?? (!state.isOneThread
        ? "several threads answer" : state.times == nil ? "this system does not show them" : nil)
    return [
      source("heartbeat", why), source("watcher", why), source("thread times", noTimes),
      source("stacks", "Swift cannot sample another thread's stack"),
      source("frames", "the display's frames are not observed"),
      source("optimised code", debugBuild),
    ]
  }
}

/// Ticks a monitor on a thread of its own, until it is stopped.
final class Watcher: Sendable {
  /// Delay between a stall's end and its explanation, in ms.
  ///
  /// In this time, the watcher's own delay is recorded.
  private static let settleMs = 100.0

  private struct State {
    var isStopped = false
    var hasStarted = false
    var ready: [CheckedContinuation<Void, Never>] = []
  }

  let monitor: HeartbeatMonitor
  private let state = Locked(State())
  private let onStall: @Sendable (Stall) -> Void

  init(_ monitor: HeartbeatMonitor, onStall: @escaping @Sendable (Stall) -> Void) {
    self.monitor = monitor
    self.onStall = onStall
  }

  static let nowMs: @Sendable () -> Double = { Double(monotonicNs()) / 1e6 }

  /// Starts the thread.
  ///
  /// Returns false if the system has none left.
  func start() -> Bool {
    monitor.begin(Self.nowMs(), startedAt: wallTimeText())
    return startThread(name: "clearway-meter") { [self] in
      while !state.with({ $0.isStopped }) {
        let dueMs = monitor.tick()
        if monitor.answered { resumeReady() }
        for stall in monitor.explain(Self.nowMs() - Self.settleMs) { onStall(stall) }
        let leftMs = dueMs - Self.nowMs()
        monitor.waits(from: Self.nowMs())
        guard leftMs > 0 else { continue }
        state.lock.lock()
        state.lock.wait(atMostNs: UInt64(leftMs * 1e6))
        state.lock.unlock()
      }
    }
  }

  private func resumeReady() {
    let waiting = state.with { state in
      state.hasStarted = true
      let waiting = state.ready
      state.ready = []
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until the first beat was answered, or the watcher was stopped.
  func ready() async {
    await withCheckedContinuation { continuation in
      let isReady = state.with { state in
        if !state.hasStarted, !state.isStopped { state.ready.append(continuation) }
        return state.hasStarted || state.isStopped
      }
      if isReady { continuation.resume() }
    }
  }

  /// Stops the thread, which ends some ms later, and explains the remaining stalls.
  ///
  /// Does not wait for the thread.
  func stop(atMs: Double) {
    state.with { state in
      state.isStopped = true
      self.state.lock.wakeAll()
    }
    resumeReady()
    for stall in monitor.finish(atMs) { onStall(stall) }
  }
}
