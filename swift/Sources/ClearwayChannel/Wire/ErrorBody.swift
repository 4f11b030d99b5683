// SPDX-License-Identifier: MIT OR Apache-2.0
// The body of a failed reply: a list of code, message, details and the thrown error. The last part
// is null from this end, because a Swift error has no stack.

private let codec = StandardMessageCodec(
  StandardRules(CodecLimits(validDepth: 256, items: 1 << 20)), isEmptyNull: false)

private let codeMax = 30
private let aroundMax = 200

/// Encodes an error in at most `bytesMax` bytes. Never throws.
///
/// Unless `isWhole`, leaves out the details of an error that another end threw. Details that cannot
/// be encoded become null. If the rest is too large, the start of the message remains.
func writeError(_ thrown: any Error, bytesMax: Int, isWhole: Bool) -> [UInt8] {
  let code: String
  let message: String
  var details = Value.null
  switch thrown {
  case let error as RemoteError:
    (code, message) = (error.code, error.message)
    if isWhole || error.channel.isEmpty { details = error.details }
  case let error as ClearwayError: (code, message) = (error.code.rawValue, error.message)
  case is CancellationError: (code, message) = ("cancelled", "the handler was cancelled")
  default: (code, message) = ("error", String(describing: thrown))
  }
  for details in [details, .null] {
    let parts: Value = [.string(code), .string(message), details, nil]
    if let body = try? codec.encode(parts, bytesMax: bytesMax) { return body }
  }
  let short: Value = [
    .string(cut(code, codeMax)), .string(cut(message, (bytesMax - aroundMax) / 4 - codeMax)), nil,
    nil,
  ]
  return (try? codec.encode(short)) ?? []
}

private func cut(_ text: String, _ scalarsMax: Int) -> String {
  if text.unicodeScalars.count <= scalarsMax { return text }
  var kept = String.UnicodeScalarView()
  kept.append(contentsOf: text.unicodeScalars.prefix(max(0, scalarsMax - 1)))
  return String(kept) + "…"
}

/// Decodes the error that the other end sent.
func readError(_ message: Received, channel: String, valuesMax: Int) -> any Error {
  let unreadable = ClearwayError(
    .protocolViolation, "an error of \(channel) that could not be read")
  let decoded = message.bytes.withUnsafeBytes { bytes in
    try? codec.decode(
      UnsafeRawBufferPointer(rebasing: bytes[message.body]), valuesMax: valuesMax, attachments: nil)
  }
  guard case .list(let parts) = decoded else { return unreadable }
  func part(_ index: Int) -> Value { index < parts.count ? parts[index] : .null }
  return RemoteError(
    code: part(0).stringValue ?? "", message: part(1).stringValue ?? "", details: part(2),
    channel: channel, stack: part(3)["stack"]?.stringValue)
}

/// Returns the error of a status without a body.
func statusError(_ status: UInt32, channel: String) -> ClearwayError {
  let (code, what): (ClearwayError.Code, String) =
    switch Status(rawValue: status) {
    case .notImplemented: (.notImplemented, "the other end has no such method")
    case .noHandler: (.noHandler, "the other end has no handler, or is closing")
    case .dropped: (.dropped, "dropped by the other end, whose buffer of early messages was full")
    case .cancelled: (.cancelled, "cancelled by the other end")
    case .timeout: (.timeout, "the handler ran longer than its timeout")
    case .busy: (.queueFull, "the other end runs as many calls as its callsMax allows")
    default: (.protocolViolation, "status \(status)")
    }
  return ClearwayError(replied: code, "\(channel): \(what)")
}

/// Returns the error of a failed reply, or of the end of a stream.
func failure(_ frame: Frame, channel: String, valuesMax: Int) -> any Error {
  if frame.head.a != Status.error.rawValue || frame.head.flags & Flag.empty != 0 {
    return statusError(frame.head.a, channel: channel)
  }
  return readError(frame.message, channel: channel, valuesMax: valuesMax)
}
