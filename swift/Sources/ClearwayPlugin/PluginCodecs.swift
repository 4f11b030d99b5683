// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel

extension PluginChannel {
  /// Returns the channel with messages of a codec.
  public func messages<Codec: MessageCodec>(_ codec: Codec) -> PluginMessageChannel<Codec> {
    PluginMessageChannel(channel: self, codec: codec)
  }

  /// Returns the channel with methods of a codec.
  public func methods<Codec: MethodCodec>(_ codec: Codec) -> PluginMethodChannel<Codec> {
    PluginMethodChannel(channel: self, codec: codec)
  }
}

/// A channel of a plugin whose messages a codec converts.
public struct PluginMessageChannel<Codec: MessageCodec>: Sendable {
  /// The channel.
  public let channel: PluginChannel
  /// The codec.
  public let codec: Codec

  /// Runs a direct handler on the calling thread.
  ///
  /// Throws the codec's errors and those of the channel's `call`.
  public func call(_ message: Codec.Message) throws -> Codec.Message {
    try codec.encode(message).withUnsafeBytes { bytes in
      try channel.call(bytes) {
        try codec.decode($0 ?? UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
  }

  /// Sends a message and waits for the answer.
  ///
  /// Throws the codec's errors and those of the channel's `send`.
  public func send(
    _ message: Codec.Message, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Codec.Message {
    let answer = try await channel.send(try codec.encode(message))
    return try answer.withUnsafeBytes { try codec.decode($0) }
  }

  /// Listens to the channel's events.
  ///
  /// `arguments` replaces the options' bytes.
  public func listen(
    _ arguments: Codec.Message, options: PluginListenOptions = PluginListenOptions()
  ) throws -> PluginEvents {
    var options = options
    options.arguments = try codec.encode(arguments)
    return try channel.listen(options)
  }
}

/// A channel of a plugin whose handler has methods.
public struct PluginMethodChannel<Codec: MethodCodec>: Sendable {
  /// The channel.
  public let channel: PluginChannel
  /// The codec.
  public let codec: Codec

  /// Calls a method of a direct handler on the calling thread.
  ///
  /// Throws a `RemoteError` for the method's own failure.
  public func call(_ method: String, _ arguments: Value = .null) throws -> Value {
    try codec.encode(call: MethodCall(method, arguments)).withUnsafeBytes { bytes in
      try channel.call(bytes) {
        try value($0 ?? UnsafeRawBufferPointer(start: nil, count: 0), method)
      }
    }
  }

  /// Calls a method and waits for its result.
  ///
  /// Throws a `RemoteError` for the method's own failure.
  public func send(
    _ method: String, _ arguments: Value = .null, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value {
    let answer = try await channel.send(try codec.encode(call: MethodCall(method, arguments)))
    return try answer.withUnsafeBytes { try value($0, method) }
  }

  private func value(_ bytes: UnsafeRawBufferPointer, _ method: String) throws -> Value {
    switch try codec.decodeReply(bytes) {
    case .success(let value): return value
    case .failure(let code, let message, let details, _):
      throw RemoteError(code: code, message: message ?? "", details: details)
    case .none: throw ClearwayError(.notImplemented, "\(channel.name) has no method \(method)")
    }
  }
}
