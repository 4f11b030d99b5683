// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel
import ClearwayThreads

/// Reads a plugin's events on a thread of its own, which runs no code of the application.
///
/// The thread waits in libclearway, which wakes it once when an event arrives in an empty queue.
/// The thread then reads until the queue is empty. It keeps the core alive, and ends after the
/// plugin was closed and lent memory has come back.
struct EventReader {
  private static let batch = 256

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
      let status = core.c.pointee.waiter_wait(
        core.waiter, UInt32.max, &returned, returned.count, &count)
      guard status == CLEARWAY_OK || status == CLEARWAY_PENDING else { break }
      for tag in returned[..<count] { core.returned(tag) }
      if !core.hasEnded { read() }
      if status == CLEARWAY_PENDING { _ = core.c.pointee.waiter_wake(core.waiter) }
    }
    // Even after a failure, no task may wait for an answer or for the end.
    if !core.hasEnded { core.end() }
    _ = core.c.pointee.waiter_free(core.waiter)
  }

  private func read() {
    if core.isForgotten, !core.isClosed {
      _ = core.c.pointee.plugin_close(core.id, 0)
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
    Task { [core] in
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
