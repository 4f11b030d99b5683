// SPDX-License-Identifier: MIT OR Apache-2.0

/// The replies that wait while the transport has no room. They are charged to the other end.
///
/// At the limit no further handler starts, and the transport pauses unless this end waits for an
/// answer. If the other end then reads no reply for the stall time, the connection closes. The
/// endpoint's lock guards it.
final class Replies: @unchecked Sendable {
  private struct Reply {
    let head: Head
    let body: [UInt8]
    let onDone: () -> Void

    // The request is kept until its answer was sent.
    var bytes: Int { requestBytes + body.count }
  }

  private let connection: Connection
  private var waiting = Deque<Reply>()
  private var isPaused = false
  private var stalled: ChannelTimer?
  private(set) var bytes = 0
  private(set) var isFull = false
  /// Whether the transport may pause: this end waits for no answer.
  var mayPause: () -> Bool = { true }
  /// Called when half of the limit is free again.
  var onRoom: () -> Void = {}
  /// Ends the connection at once.
  var onStalled: (CloseReason) -> Void = { _ in }

  /// The refusals that may wait besides the answers of `callsMax` calls.
  private static let refusalsMax = 8192

  init(_ connection: Connection) { self.connection = connection }

  var isEmpty: Bool { waiting.isEmpty }

  /// Sends a reply now or when the transport has room. Calls `onDone` when it was sent or dropped.
  func send(_ head: Head, _ body: [UInt8], _ onDone: @escaping () -> Void = {}) {
    if connection.reason != nil { return onDone() }
    if waiting.isEmpty, !connection.isCongested {
      connection.control(head, body: body)
      return onDone()
    }
    let reply = Reply(head: head, body: body, onDone: onDone)
    waiting.append(reply)
    bytes += reply.bytes
    if waiting.count > connection.settings.callsMax + Self.refusalsMax {
      disconnect("reads no answers and goes on calling")
    } else if bytes >= connection.settings.replyBytesMax {
      if !isFull { startStallTimer() }
      isFull = true
      updatePause()
    }
  }

  func updatePause() {
    let pause = isFull && mayPause()
    if pause == isPaused || connection.reason != nil { return }
    isPaused = pause
    if pause { connection.transport.pause() } else { connection.transport.resume() }
  }

  func drain() {
    var sent = false
    while !connection.isCongested, let reply = waiting.popFirst() {
      bytes -= reply.bytes
      sent = true
      connection.control(reply.head, body: reply.body)
      reply.onDone()
    }
    guard isFull, sent else { return }
    stalled?.stop()
    if bytes * 2 > connection.settings.replyBytesMax { return startStallTimer() }
    isFull = false
    updatePause()
    onRoom()
  }

  /// Drops the waiting replies, because the connection has ended.
  func clear() {
    stalled?.stop()
    isFull = false
    bytes = 0
    while let reply = waiting.popFirst() { reply.onDone() }
  }

  private func startStallTimer() {
    guard let limit = connection.settings.stallTimeout else { return }
    let ms = limit.milliseconds
    stalled = connection.settings.clock.after(ms) { [weak self] in
      guard let self else { return }
      connection.locked { if isFull { disconnect("has read no answer for \(ms) ms") } }
    }
  }

  private func disconnect(_ what: String) {
    onStalled(CloseReason(.timeout, "the other end \(what): \(bytes) bytes of answers wait"))
  }
}
