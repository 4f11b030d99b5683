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
