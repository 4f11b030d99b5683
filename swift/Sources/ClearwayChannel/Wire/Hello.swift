// SPDX-License-Identifier: MIT OR Apache-2.0

/// What an end announces about itself in its first frame.
struct Hello {
  static let magic: UInt32 = 0x4843_5743
  static let version: UInt32 = 1
  /// The bit of Clearway's wire.
  static let clearway: UInt32 = 1
  /// The smallest frame limit that an end may announce.
  static let frameBytesMin = 1024

  var version = Hello.version
  var wires = Hello.clearway
  var frameBytesMax: Int
  var nameBytesMax: Int
  var callsMax: Int

  func frame() -> [UInt8] {
    let body = [frameBytesMax, nameBytesMax, callsMax].flatMap { limit in
      withUnsafeBytes(of: UInt32(clamping: limit)) { Array($0) }
    }
    return writeFrame(Head(op: Op.hello, id: Hello.magic, a: version, b: wires), body: body)
  }
}

extension Hello {
  /// Reads a hello. Returns nil if the frame is not one. Later versions append numbers.
  init?(_ frame: Frame) {
    let message = frame.message
    guard frame.head.op == Op.hello, frame.head.id == Hello.magic, message.body.count >= 12 else {
      return nil
    }
    let limits = message.bytes.withUnsafeBytes { bytes in
      (0..<3).map { index in
        Int(
          bytes.loadUnaligned(fromByteOffset: message.body.lowerBound + index * 4, as: UInt32.self))
      }
    }
    self.init(
      version: frame.head.a, wires: frame.head.b, frameBytesMax: limits[0],
      nameBytesMax: limits[1], callsMax: limits[2])
  }
}
