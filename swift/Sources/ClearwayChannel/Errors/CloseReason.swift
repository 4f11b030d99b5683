// SPDX-License-Identifier: MIT OR Apache-2.0

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
