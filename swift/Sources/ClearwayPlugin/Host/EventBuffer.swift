// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel
import ClearwayThreads

/// The events of one listener that Swift has not read.
///
/// Their number is bounded by the credit that the reader gives.
final class EventBuffer: Sendable {
  /// A task that waits for an event.
  ///
  /// The lock of the buffer protects its fields.
  private final class Reader: @unchecked Sendable {
    var continuation: CheckedContinuation<PluginEvent?, any Error>?
    var isCancelled = false
  }

  private struct State: @unchecked Sendable {
    var events = Fifo<PluginEvent>()
    var readers = Fifo<Reader>()
    var stream = clearway_stream()
    var tag: UInt64 = 0
    var consumed = 0
    var lost = 0
    var isOver = false
    var error: ClearwayError?
  }

  private let core: PluginCore
  private let state = Locked(State())
  // Credit is given again after half a window: few calls, and a fast reader never lets the source
  // run out of credit.
  private let batch: Int
  let channel: String

  init(_ core: PluginCore, _ channel: String, _ options: PluginListenOptions) {
    self.core = core
    self.channel = channel
    batch = max(1, options.items / 2)
  }

  var dropped: Int { state.with { $0.lost } }

  func opened(_ stream: clearway_stream, _ tag: UInt64) {
    state.with { state in
      state.stream = stream
      state.tag = tag
    }
  }

  // MARK: From the plugin

  func arrived(_ event: PluginEvent) {
    let continuation = state.with { state in
      state.lost += event.dropped
      if state.isOver { return nil as CheckedContinuation<PluginEvent?, any Error>? }
      guard let reader = state.readers.popFirst() else {
        state.events.append(event)
        return nil
      }
      state.consumed += 1
      defer { reader.continuation = nil }
      return reader.continuation
    }
    continuation?.resume(returning: event)
    giveCredit()
  }

  func ended(_ error: ClearwayError?, dropped: Int) {
    let readers = state.with { state in
      state.lost += dropped
      if state.isOver { return [] as [Reader] }
      state.isOver = true
      let readers = state.readers.takeAll()
      // A task that waits gets the error now.
      state.error = readers.isEmpty ? error : nil
      return readers
    }
    for (at, reader) in readers.enumerated() {
      if at == 0, let error {
        reader.continuation?.resume(throwing: error)
      } else {
        reader.continuation?.resume(returning: nil)
      }
    }
  }

  // MARK: From the reader

  private enum Reading {
    case event(PluginEvent)
    case end(ClearwayError?)
    case wait
  }

  private func read(_ state: inout State) -> Reading {
    if let event = state.events.popFirst() {
      state.consumed += 1
      return .event(event)
    }
    guard state.isOver else { return .wait }
    defer { state.error = nil }
    return .end(state.error)
  }

  private func giveCredit() {
    let (stream, credit) = state.with { state in
      guard state.consumed >= batch, !state.isOver else { return (state.stream, 0) }
      defer { state.consumed = 0 }
      return (state.stream, state.consumed)
    }
    // The stream may have ended meanwhile, which is no error here.
    if credit > 0 { _ = core.c.pointee.stream_credit(core.id, stream, UInt64(credit)) }
  }

  func next(isolation: isolated (any Actor)? = #isolation) async throws -> PluginEvent? {
    try Task.checkCancellation()
    switch state.with({ read(&$0) }) {
    case .event(let event):
      giveCredit()
      return event
    case .end(let error?): throw error
    case .end(nil): return nil
    case .wait: break
    }
    let reader = Reader()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let reading: Reading = state.with { state in
          if reader.isCancelled { return .end(nil) }
          let reading = read(&state)
          if case .wait = reading {
            reader.continuation = continuation
            state.readers.append(reader)
          }
          return reading
        }
        switch reading {
        case .event(let event):
          giveCredit()
          continuation.resume(returning: event)
        case .end(let error?): continuation.resume(throwing: error)
        case .end(nil):
          if Task.isCancelled {
            continuation.resume(throwing: CancellationError())
          } else {
            continuation.resume(returning: nil)
          }
        case .wait: break
        }
      }
    } onCancel: {
      let continuation = state.with { state in
        state.readers.removeAll { $0 === reader }
        reader.isCancelled = true
        defer { reader.continuation = nil }
        return reader.continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// Stops listening.
  ///
  /// Releases the events that wait.
  func cancel() {
    let (left, readers, stream, tag) = state.with { state in
      let tag = state.isOver ? 0 : state.tag
      state.isOver = true
      state.error = nil
      return (state.events.takeAll(), state.readers.takeAll(), state.stream, tag)
    }
    if tag != 0 { core.cancel(tag, stream) }
    for reader in readers { reader.continuation?.resume(returning: nil) }
    _ = left
  }
}

/// Reads a plugin's events on a thread of its own, which runs no code of the application.
///
/// The thread waits in libclearway, which wakes it once when an event arrives in an empty queue.
/// The thread then reads until the queue is empty. It keeps the core alive, and ends after the
/// plugin was closed and lent memory has come back.
struct EventReader {
  private static let batch = 256
  /// The interval between two attempts to close a forgotten plugin whose handlers still run, in
  /// milliseconds. The end of a handler wakes no reader.
  private static let closeAgainMs: UInt32 = 100

  private let core: PluginCore
  private let log: @Sendable (LogLine) -> Void
  private let events: UnsafeMutablePointer<clearway_event>

  /// Starts the thread.
  ///
  /// Returns false if the system has none left.
  static func start(_ core: PluginCore, log: @escaping @Sendable (LogLine) -> Void) -> Bool {
    startThread(name: "clearway-plugin") {
      let events = UnsafeMutablePointer<clearway_event>.allocate(capacity: batch)
      events.initialize(repeating: clearway_event(), count: batch)
      EventReader(core: core, log: log, events: events).run()
      events.deallocate()
    }
  }

  private func run() {
    var returned = [UInt64](repeating: 0, count: Self.batch)
    while !core.hasEnded || core.hasLoans {
      var count = 0
      let limitMs = core.isForgotten && !core.isClosed ? Self.closeAgainMs : UInt32.max
      let status = core.c.pointee.waiter_wait(
        core.waiter, limitMs, &returned, returned.count, &count)
      guard [CLEARWAY_OK, CLEARWAY_PENDING, CLEARWAY_TIMEOUT].contains(status) else { break }
      for tag in returned[..<count] { core.returned(tag) }
      if !core.hasEnded { read() }
      if status == CLEARWAY_PENDING { _ = core.c.pointee.waiter_wake(core.waiter) }
    }
    // Even after a failure, no task may wait for an answer or for the end.
    if !core.hasEnded { core.end() }
    _ = core.c.pointee.waiter_free(core.waiter)
  }

  private func read() {
    // Without waiting, because a handler may wait for what this thread reads.
    if core.isForgotten, !core.isClosed,
      core.c.pointee.plugin_close(core.id, 0) != CLEARWAY_TIMEOUT
    {
      core.markClosed()
    }
    // Read before the drain: if it is true, the queue already holds every answer that closing
    // caused.
    let isClosed = core.isClosed
    drain()
    if isClosed { core.end() }
  }

  private func drain() {
    while true {
      var count = 0
      let status = core.c.pointee.plugin_drain(core.id, events, Self.batch, &count)
      guard status == CLEARWAY_OK || status == CLEARWAY_PENDING else { return }
      for at in 0..<count { deliver(events[at]) }
      if status == CLEARWAY_OK { return }
    }
  }

  /// Delivers an event, and gives its ownership away.
  private func deliver(_ event: clearway_event) {
    switch Int32(event.kind) {
    case CLEARWAY_EVENT_ITEM:
      let item = PluginEvent(core.library, owning: event)
      core.stream(event.tag)?.arrived(item)
    case CLEARWAY_EVENT_ANSWER: core.settle(event.tag, event)
    case CLEARWAY_EVENT_END:
      let failure =
        event.status == CLEARWAY_OK
        ? nil : core.failure(event.status, core.stream(event.tag)?.channel ?? "", text(event.text))
      core.ended(event.tag, failure, dropped: Int(clamping: event.dropped))
      PluginMessage(core.library, owning: event).release()
    case CLEARWAY_EVENT_MESSAGE: ask(event)
    case CLEARWAY_EVENT_LOG:
      log(
        LogLine(
          level: LogLine.Level(rawValue: Int(clamping: event.handle)) ?? .error,
          text: text(event.text)))
      PluginMessage(core.library, owning: event).release()
    default: PluginMessage(core.library, owning: event).release()
    }
  }

  /// Runs the handler of a message from the plugin in a task of its own.
  private func ask(_ event: clearway_event) {
    let channel = text(event.text)
    let reply = clearway_reply(handle: event.handle)
    let message = AnswerBox()
    message.store(PluginMessage(core.library, owning: event))
    guard let handler = core.handler(channel) else {
      return core.refuse(reply, CLEARWAY_NO_HANDLER, "the host has no handler for \(channel)")
    }
    core.answer { [core] in
      do {
        guard let message = message.take() else { return }
        let answer = try await handler.run(message)
        let status = withContent(answer) { core.c.pointee.answer(reply, $0) }
        if status != CLEARWAY_OK {
          core.refuse(reply, CLEARWAY_FAILED, "the answer was refused: status \(status)")
        }
      } catch {
        core.refuse(reply, CLEARWAY_FAILED, "\(error)")
      }
    }
  }
}

extension PluginCore {
  fileprivate func refuse(_ reply: clearway_reply, _ status: clearway_status, _ why: String) {
    _ = withText(why) { c.pointee.answer_error(reply, status, $0) }
  }
}
