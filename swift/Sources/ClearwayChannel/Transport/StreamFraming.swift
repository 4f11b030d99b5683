// SPDX-License-Identifier: MIT OR Apache-2.0

/// How frames cross a stream of bytes. Does no input or output.
protocol StreamFraming: Sendable {
  /// The kind of an ordinary frame.
  var frameKind: UInt8 { get }

  /// Returns what is written for a frame: a header, and the body in the form in which it crosses.
  func pack(_ kind: UInt8, _ body: [UInt8]) -> (header: [UInt8], body: [UInt8])

  /// Returns the kind and the body of the frame that tells the other end why this one closes.
  func closing(_ reason: CloseReason) -> (kind: UInt8, body: [UInt8])

  func reader(frameBytesMax: Int) -> any StreamReader

  /// Returns the window of an end that says which frames it has taken, or nil for another end.
  func window(_ bytes: Int) -> MarkedWindow?
}

/// Splits a stream of bytes into frames.
protocol StreamReader {
  /// Whether the other end has ended the stream, or has sent something wrong.
  var hasEnded: Bool { get }

  /// Whether the current frame is incomplete.
  var isInside: Bool { get }

  /// Reads bytes. Calls `take` for each event.
  mutating func push(_ piece: UnsafeRawBufferPointer, _ take: (StreamEvent) -> Void)
}

/// What a reader finds in a stream.
enum StreamEvent {
  case frame([UInt8])
  /// The other end's reason, or an error in the bytes. The reader ignores all later bytes.
  case end(CloseReason)
  /// The stream has ended without a reason of the other end.
  case over(CloseReason)
  /// A question whether this end is alive, and the body of the answer.
  case ping([UInt8])
  /// The weight of all frames so far, to which this end replies when it has taken them.
  case mark(Int)
  /// The weight of the frames that the other end has taken.
  case taken(Int)

  /// The bytes that an event counts while it waits.
  var memory: Int {
    if case .frame(let frame) = self { return frame.count + entryBytes }
    return entryBytes
  }
}

/// The framing of pipes and sockets (`spec/stdio.md`).
struct StdioFraming: StreamFraming {
  var frameKind: UInt8 { StreamLayout.frame }

  func pack(_ kind: UInt8, _ body: [UInt8]) -> (header: [UInt8], body: [UInt8]) {
    (StreamLayout.header(kind, body.count), body)
  }

  func closing(_ reason: CloseReason) -> (kind: UInt8, body: [UInt8]) {
    (StreamLayout.close, reason.body)
  }

  func reader(frameBytesMax: Int) -> any StreamReader { FrameReader(frameBytesMax: frameBytesMax) }

  func window(_ bytes: Int) -> MarkedWindow? { nil }
}
