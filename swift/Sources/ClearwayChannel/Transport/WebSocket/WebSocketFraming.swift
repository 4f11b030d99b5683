// SPDX-License-Identifier: MIT OR Apache-2.0

// byte  0                  1             2 ...       4 or 10 ...
//       +------------------+-------------+-----------+--------+-------------+
//       | fin, 0 0 0, kind | mask, size  | size      | mask   | body        |   RFC 6455, 5.2
//       +------------------+-------------+-----------+--------+-------------+
//
// A size of 126 means that 2 bytes of size follow, and 127 that 8 follow, the highest byte first.

enum WebSocketLayout {
  static let more: UInt8 = 0
  static let text: UInt8 = 1
  static let binary: UInt8 = 2
  static let close: UInt8 = 8
  static let ping: UInt8 = 9
  static let pong: UInt8 = 10

  static let fin: UInt8 = 0x80
  static let masked: UInt8 = 0x80
  static let short = 126
  static let long = 127
  /// The largest body of a close, a ping or a pong.
  static let controlBytesMax = 125
  /// The largest text between two ends of Clearway: `taken` and 16 digits.
  static let textBytesMax = 32
}

/// The framing of a WebSocket (`spec/websocket.md`).
struct WebSocketFraming: StreamFraming {
  /// The end that opens the connection masks what it sends.
  enum Role {
    case client
    case server
  }

  let role: Role
  /// Whether the other end speaks Clearway's subprotocol, and so sends and answers marks.
  let hasMarks: Bool
  var keepAlive: KeepAlive?

  var frameKind: UInt8 { WebSocketLayout.binary }

  func pack(_ kind: UInt8, _ body: [UInt8]) -> (header: [UInt8], body: [UInt8]) {
    var header = [WebSocketLayout.fin | kind]
    let flag = role == .client ? WebSocketLayout.masked : 0
    switch body.count {
    case ..<WebSocketLayout.short: header.append(flag | UInt8(body.count))
    case ...0xffff:
      header += [flag | UInt8(WebSocketLayout.short)]
      header += [UInt8(body.count >> 8), UInt8(body.count & 0xff)]
    default:
      header.append(flag | UInt8(WebSocketLayout.long))
      header += (0..<8).map { UInt8(truncatingIfNeeded: body.count >> (56 - 8 * $0)) }
    }
    if role == .server { return (header, body) }
    let mask = UInt32.random(in: .min ... .max)
    withUnsafeBytes(of: mask) { header += $0 }
    return (header, applied(mask, to: body))
  }

  func closing(_ reason: CloseReason) -> (kind: UInt8, body: [UInt8]) {
    (WebSocketLayout.close, reason.webSocketBody)
  }

  func reader(frameBytesMax: Int) -> any StreamReader {
    WebSocketReader(
      frameBytesMax: frameBytesMax, isMasked: role == .server, hasMarks: hasMarks)
  }

  func window(_ bytes: Int) -> MarkedWindow? { hasMarks ? MarkedWindow(windowBytes: bytes) : nil }
}

/// Returns a copy of the bytes, combined with a mask.
func applied(_ mask: UInt32, to bytes: [UInt8]) -> [UInt8] {
  let wide = UInt64(mask) << 32 | UInt64(mask)
  return [UInt8](unsafeUninitializedCapacity: bytes.count) { to, count in
    count = bytes.count
    let to = UnsafeMutableRawBufferPointer(to)
    bytes.withUnsafeBytes { from in
      var at = 0
      while at + 8 <= from.count {
        let word = from.loadUnaligned(fromByteOffset: at, as: UInt64.self) ^ wide
        to.storeBytes(of: word, toByteOffset: at, as: UInt64.self)
        at += 8
      }
      while at < from.count {
        to[at] = from[at] ^ UInt8(truncatingIfNeeded: mask >> UInt32(8 * (at & 3)))
        at += 1
      }
    }
  }
}

extension CloseReason {
  /// The largest text of a close, whose status has two bytes.
  private static let textBytesMax = WebSocketLayout.controlBytesMax - 2

  private static let statuses: [(Code, Int)] = [
    (.closed, 1000), (.lost, 4001), (.protocolViolation, 4002), (.tooLarge, 4003), (.refused, 4004),
    (.timeout, 4005), (.failed, 4006),
  ]

  /// The body of the WebSocket's close frame. The text ends between two characters.
  var webSocketBody: [UInt8] {
    let status = Self.statuses.first { $0.0 == code }?.1 ?? 1000
    var text: [UInt8] = []
    for scalar in message.unicodeScalars {
      let next = UTF8.encode(scalar).map { Array($0) } ?? []
      if text.count + next.count > Self.textBytesMax { break }
      text += next
    }
    return [UInt8(status >> 8), UInt8(status & 0xff)] + text
  }

  /// Reads the body of a close frame. Returns nil if it has one byte, or no valid text.
  init?(webSocketBody body: [UInt8]) {
    guard body.count != 1 else { return nil }
    let status = body.isEmpty ? 1005 : Int(body[0]) << 8 | Int(body[1])
    guard let text = try? StringCodec().decode(Array(body.dropFirst(2))) else { return nil }
    if let (code, _) = Self.statuses.first(where: { $0.1 == status && status != 1000 }) {
      self.init(code, text.isEmpty ? code.rawValue : text)
      return
    }
    let code: Code =
      switch status {
      case 1002, 1003, 1007: .protocolViolation
      case 1006: .lost
      case 1008, 1013: .refused
      case 1009: .tooLarge
      case 1010, 1011, 1014, 1015: .failed
      default: .closed
      }
    if status == 1000 {
      self.init(code, text.isEmpty ? "closed" : text)
    } else {
      self.init(
        code, text.isEmpty ? "closed with status \(status)" : text,
        detail: ["closeCode": .int(Int64(status))])
    }
  }
}
