// SPDX-License-Identifier: MIT OR Apache-2.0

/// An error of Clearway, with a code from the list in `spec/errors.md`.
///
/// Distinguish errors by ``code``, never by the message. The codes are the same in every language.
public struct ClearwayError: Error, Sendable, Equatable {
  /// The reason, the same in every language.
  public enum Code: String, Sendable, CaseIterable {
    /// An argument or an option is out of its range.
    case invalidArgument = "invalid-argument"
    /// The bytes end before the value does.
    case truncated
    /// Bytes follow the end of the value.
    case trailingBytes = "trailing-bytes"
    /// A type byte is reserved, or belongs to an extension that the codec does not have.
    case unknownTag = "unknown-tag"
    /// A text is not UTF-8.
    case badUTF8 = "bad-utf8"
    /// Content does not match its type.
    case malformed
    /// Lists and maps are nested deeper than the limit.
    case tooDeep = "too-deep"
    /// A count, a size or a frame exceeds a limit.
    case tooLarge = "too-large"
    /// The codec has no form for a value.
    case notEncodable = "not-encodable"
    /// The host is big-endian.
    case unsupportedHost = "unsupported-host"
    /// The other end's handler has no such method.
    case notImplemented = "not-implemented"
    /// The other end has no handler for the channel.
    case noHandler = "no-handler"
    /// The message was dropped from a buffer of early messages, or from a full queue.
    case dropped
    /// An end is at its limit of calls or streams, or a queue of events is full.
    case queueFull = "queue-full"
    /// The call or the stream was cancelled.
    case cancelled
    /// No answer arrived within the deadline, or no hello in time. This end measures both.
    case deadline
    /// The handler ran longer than its timeout, which the other end measures.
    case timeout
    /// The transport is closed. ``ClearwayError/reason`` says why.
    case transportClosed = "transport-closed"
    /// The other end sent bytes that violate the protocol.
    case protocolViolation = "protocol"
    /// libclearway was not found, or has another major version.
    case addonMissing = "addon-missing"
    /// A library could not be loaded.
    case loadFailed = "load-failed"
    /// A library is not a plugin.
    case notAPlugin = "not-a-plugin"
    /// A plugin was built for another major version of the ABI.
    case wrongVersion = "wrong-version"
    /// A plugin's initialisation failed.
    case initFailed = "init-failed"
    /// A handler runs on another thread, so that a direct call cannot wait for it.
    case notDirect = "not-direct"
    /// A plugin's handler failed.
    case failed
    /// A plugin's handler panicked.
    case panicked
    /// A plugin's answer is invalid.
    case badAnswer = "bad-answer"
    /// Too many calls are pending.
    case full
    /// Events came faster than the listener read them.
    case overflow
    /// Memory could not be allocated.
    case outOfMemory = "out-of-memory"
    /// Memory was used after its release.
    case released
    /// A plugin is closed.
    case closed
    /// A call would copy memory, and a copy was not allowed.
    case wouldCopy = "would-copy"
  }

  /// The reason.
  public let code: Code
  /// A text for people. It may change between versions.
  public let message: String
  /// The offset of the wrong byte; nil unless a codec threw the error.
  public let offset: Int?
  /// Why the transport closed; nil unless the code is ``Code/transportClosed``.
  public let reason: CloseReason?
  /// Whether another end replied with the error. A handler that forwards a call rethrows it, and does not
  /// mean by it that its own method is missing.
  package private(set) var isReply = false

  /// Makes an error.
  public init(_ code: Code, _ message: String, offset: Int? = nil, reason: CloseReason? = nil) {
    self.code = code
    self.message = message
    self.offset = offset
    self.reason = reason
  }

  /// Makes the error of a reply.
  package init(replied code: Code, _ message: String) {
    self.init(code, message)
    isReply = true
  }

  /// Whether the code, the message, the offset and the reason are the same.
  public static func == (one: Self, other: Self) -> Bool {
    (one.code, one.message, one.offset, one.reason)
      == (other.code, other.message, other.offset, other.reason)
  }
}

extension ClearwayError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// An error that the other end's handler threw.
///
/// A handler of this end throws it to choose the code, the message and the details that the caller
/// gets. Any other error of a handler crosses with the code "error".
public struct RemoteError: Error, Sendable, Equatable {
  /// The code that the handler chose: any text.
  public let code: String
  /// The message for people.
  public let message: String
  /// Any value of the standard codec.
  public let details: Value
  /// The channel on which the error arrived; empty at the end that throws it.
  public let channel: String
  /// The other end's stack trace as text, if that end sends it.
  public let stack: String?

  /// Makes an error that a handler throws.
  public init(code: String, message: String, details: Value = .null) {
    self.init(code: code, message: message, details: details, channel: "", stack: nil)
  }

  init(code: String, message: String, details: Value, channel: String, stack: String?) {
    self.code = code
    self.message = message
    self.details = details
    self.channel = channel
    self.stack = stack
  }
}

extension RemoteError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}

/// Why a transport has closed.
public struct CloseReason: Sendable, Equatable {
  /// The kind of reason.
  public enum Code: String, Sendable, CaseIterable {
    /// One end closed it.
    case closed
    /// The connection broke, or the other end's process ended.
    case lost
    /// An end sent something that the protocol does not allow.
    case protocolViolation = "protocol"
    /// A frame is larger than the limit.
    case tooLarge = "too-large"
    /// The other end refused the connection.
    case refused
    /// The other end did not answer in time.
    case timeout
    /// This end could not read or write.
    case failed
  }

  /// The kind of reason.
  public let code: Code
  /// A text for people.
  public let message: String
  /// Facts, such as `exitCode` of a child process.
  public let detail: Value

  /// Makes a reason.
  public init(_ code: Code, _ message: String, detail: Value = .null) {
    self.code = code
    self.message = message
    self.detail = detail
  }

  /// An ordinary close by one of the ends.
  public static let closed = CloseReason(.closed, "closed")
}

extension CloseReason: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}
