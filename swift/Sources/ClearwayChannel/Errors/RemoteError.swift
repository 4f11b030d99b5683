// SPDX-License-Identifier: MIT OR Apache-2.0

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
