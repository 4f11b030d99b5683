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

  /// Makes an error that a handler throws.
  public init(code: String, message: String, details: Value = .null) {
    self.init(code: code, message: message, details: details, channel: "")
  }

  init(code: String, message: String, details: Value, channel: String) {
    self.code = code
    self.message = message
    self.details = details
    self.channel = channel
  }
}

extension RemoteError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
