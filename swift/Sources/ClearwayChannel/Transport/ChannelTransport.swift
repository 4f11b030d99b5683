// SPDX-License-Identifier: MIT OR Apache-2.0

/// Carries the frames of a connection between two ends.
///
/// - Frames arrive whole, once, and in the order in which they were sent.
/// - Frames that arrive before ``open(_:)`` wait in the transport.
/// - The methods do not block and do not call the sink. Any thread may call them.
/// - One thread at a time calls the sink. `closed` is called once, as the last call.
public protocol ChannelTransport: AnyObject, Sendable {
  /// The kind of the transport, such as "stdio".
  var name: String { get }

  /// The largest frame in bytes, in both directions.
  var frameBytesMax: Int { get }

  /// Whether the other end is part of the same program, as a child process is.
  var isTrusted: Bool { get }

  /// Starts to deliver frames to the sink. Called once. A second sink only learns that it is closed.
  func open(_ sink: any ChannelSink)

  /// Sends a frame. Returns false if too many bytes wait; the frame is accepted in that case, too.
  ///
  /// The sender then waits for ``ChannelSink/drained()``. A closed transport drops the frame. A frame
  /// over `frameBytesMax` closes the transport.
  func send(_ frame: [UInt8]) -> Bool

  /// Pauses the delivery of frames until ``resume()``.
  func pause()

  /// Continues the delivery of frames.
  func resume()

  /// Closes the transport after it has written what was sent. Later calls have no effect.
  func close(_ reason: CloseReason)
}

/// A transport of this library, which one endpoint may use.
protocol OwnTransport: ChannelTransport {
  /// Whether an endpoint has it.
  var owner: Once { get }
}

extension CloseReason {
  /// The reason that a second sink gets, whose transport goes on with the first one.
  static let openedBefore = CloseReason(.failed, "open() was called before")
}

extension ChannelTransport {
  /// Closes the transport for a frame that is larger than it takes.
  func refuse(_ frame: [UInt8]) -> Bool {
    let what = "a frame of \(frame.count) bytes; the transport takes \(frameBytesMax) at most"
    close(CloseReason(.tooLarge, what))
    return false
  }
}

/// Receives the frames of a transport. The methods must not block.
public protocol ChannelSink: AnyObject, Sendable {
  /// Receives a frame.
  func frame(_ frame: [UInt8])

  /// Called when the transport has room again after a `send` that returned false.
  func drained()

  /// Called when the transport has closed, as the last call.
  func closed(_ reason: CloseReason)
}

/// The limits of a transport's memory.
public struct TransportLimits: Sendable {
  /// The largest frame in bytes, in both directions. The default is 64 MiB.
  public let frameBytesMax: Int
  /// The bytes that may wait to leave before `send` returns false. Each frame counts 128 bytes more. The
  /// default is 1 MiB.
  public let windowBytes: Int

  /// Makes limits. Throws ``ClearwayError/Code/invalidArgument`` for a limit out of its range.
  public init(frameBytesMax: Int = 64 << 20, windowBytes: Int = 1 << 20) throws(ClearwayError) {
    try check("frameBytesMax", frameBytesMax, in: Hello.frameBytesMin...Int(UInt32.max))
    try check("windowBytes", windowBytes, in: 1...Int.max)
    self.init(validFrame: frameBytesMax, window: windowBytes)
  }

  init(validFrame: Int, window: Int) {
    frameBytesMax = validFrame
    windowBytes = window
  }

  /// Frames of up to 64 MiB, and a window of 1 MiB.
  public static let standard = TransportLimits(validFrame: 64 << 20, window: 1 << 20)
}

/// The bytes that an entry of a queue counts besides its content.
///
/// An entry is an array of bytes, whose header and block take up to 56 bytes more than its content, and a
/// slot of up to 56 bytes (measured on Linux), in a list that has room for more. Without this number, a peer that sends the smallest
/// frames, or reads nothing while it is answered by them, would fill the memory before a limit is
/// reached.
let entryBytes = 128

/// The bytes that a request of the other end counts besides its frame.
///
/// Its two objects take 240 bytes (measured on Linux), the head of its frame and its name as a text 150,
/// and its places in a queue and in the tables of open requests 100.
let requestBytes = 512

/// The bytes that a frame counts in the window of an end that says what it has taken, which both ends
/// must count alike (`spec/websocket.md`).
func weight(_ frame: [UInt8]) -> Int { frame.count + 8 }
