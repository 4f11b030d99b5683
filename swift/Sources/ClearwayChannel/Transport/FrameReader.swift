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

  /// How this end notices that the other one has gone silent; nil if it does not.
  var keepAlive: KeepAlive? { get }
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

  var keepAlive: KeepAlive? { nil }
}

// byte  0     1     2     3     4           8                    8 + size
//       +-----+-----+-----+-----+-----------+--------------------+
//       | 43  | 57  | 01  |kind | size, u32 | body               |   spec/stdio.md
//       +-----+-----+-----+-----+-----------+--------------------+

enum StreamLayout {
  static let magic: [UInt8] = [0x43, 0x57, 0x01]
  static let headerBytes = 8
  static let frame: UInt8 = 0
  static let close: UInt8 = 1
  static let closeBytesMax = 8192

  static func header(_ kind: UInt8, _ size: Int) -> [UInt8] {
    let size = UInt32(size)
    return magic + [kind] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
  }
}

/// Splits a stream of bytes into frames. Does no input or output.
///
/// The memory of a body starts small and grows as its bytes arrive, so a peer that announces 64 MiB
/// makes this end allocate them only after it has sent 16 MiB.
struct FrameReader: StreamReader {
  private let frameBytesMax: Int
  private var header: [UInt8] = []
  private var body: [UInt8] = []
  private var bodySize: Int?
  private(set) var hasEnded = false
  /// The position of the current frame in the stream.
  private var offset = 0

  private static let firstBytes = 1 << 16
  private static let growth = 16
  private static let excerptBytes = 80

  init(frameBytesMax: Int) { self.frameBytesMax = frameBytesMax }

  /// Whether the current frame is incomplete.
  var isInside: Bool { !header.isEmpty }

  /// Reads bytes. Calls `take` for each frame and for the end.
  mutating func push(_ piece: UnsafeRawBufferPointer, _ take: (StreamEvent) -> Void) {
    var at = 0
    while !hasEnded, at < piece.count {
      at = bodySize == nil ? readHeader(piece, at, take) : readBody(piece, at, take)
    }
  }

  private mutating func readHeader(
    _ piece: UnsafeRawBufferPointer, _ from: Int, _ take: (StreamEvent) -> Void
  ) -> Int {
    var at = from
    while header.count < StreamLayout.headerBytes, at < piece.count {
      if header.count < 3, piece[at] != StreamLayout.magic[header.count] {
        let rest = piece[at..<min(piece.count, at + Self.excerptBytes)]
        let text = String(decoding: header + rest, as: UTF8.self)
        finish(
          .protocolViolation,
          "something that is no frame, at byte \(offset): \"\(text)\"; does the other end print to its standard output?",
          ["offset": .int(Int64(offset))], take)
        return piece.count
      }
      header.append(piece[at])
      at += 1
    }
    if header.count == StreamLayout.headerBytes { begin(take) }
    return at
  }

  private mutating func begin(_ take: (StreamEvent) -> Void) {
    let kind = header[3]
    let size = (0..<4).reduce(0) { $0 | Int(header[4 + $1]) << (8 * $1) }
    if kind != StreamLayout.frame, kind != StreamLayout.close {
      return finish(
        .protocolViolation, "a frame of the unknown kind \(kind), at byte \(offset)", .null, take)
    }
    let most = kind == StreamLayout.frame ? frameBytesMax : StreamLayout.closeBytesMax
    if size > most {
      return finish(
        .tooLarge, "a frame of \(size) bytes; the transport takes \(most) at most", .null, take)
    }
    bodySize = size
    body = []
    body.reserveCapacity(min(size, Self.firstBytes))
    if size == 0 { complete(take) }
  }

  private mutating func readBody(
    _ piece: UnsafeRawBufferPointer, _ from: Int, _ take: (StreamEvent) -> Void
  ) -> Int {
    let size = bodySize ?? 0
    let count = min(piece.count - from, size - body.count)
    if body.count + count > body.capacity {
      body.reserveCapacity(min(size, max(body.count + count, body.capacity * Self.growth)))
    }
    body.append(contentsOf: piece[from..<(from + count)])
    if body.count == size { complete(take) }
    return from + count
  }

  private mutating func complete(_ take: (StreamEvent) -> Void) {
    let whole = body
    let kind = header[3]
    body = []
    bodySize = nil
    header.removeAll(keepingCapacity: true)
    offset += StreamLayout.headerBytes + whole.count
    if kind == StreamLayout.frame { return take(.frame(whole)) }
    hasEnded = true
    guard let given = try? JSONMessageCodec().decode(whole), !whole.isEmpty else {
      let reason = CloseReason(.protocolViolation, "the close frame has no valid JSON")
      return take(.end(reason))
    }
    take(.end(CloseReason(received: given)))
  }

  private mutating func finish(
    _ code: CloseReason.Code, _ message: String, _ detail: Value, _ take: (StreamEvent) -> Void
  ) {
    hasEnded = true
    take(.end(CloseReason(code, message, detail: detail)))
  }
}

extension CloseReason {
  private static let messageMax = 1000
  private static let detailsMax = 16

  /// Reads a reason that the other end sent. An unknown code becomes `closed`.
  init(received given: Value) {
    let code = given["code"]?.stringValue.flatMap(Code.init) ?? .closed
    let message = given["message"]?.stringValue.map { String($0.prefix(Self.messageMax)) }
    var detail = ValueMap()
    for entry in given["detail"]?.mapValue ?? [:] where detail.count < Self.detailsMax {
      switch entry.value {
      case .string, .int, .double: detail[entry.key] = entry.value
      default: continue
      }
    }
    self.init(code, message ?? "closed", detail: detail.isEmpty ? .null : .map(detail))
  }

  /// The body of the close frame.
  var body: [UInt8] {
    var parts: ValueMap = ["code": .string(code.rawValue), "message": .string(message)]
    if !detail.isNull { parts["detail"] = detail }
    let codec = JSONMessageCodec()
    let most = StreamLayout.closeBytesMax
    if let body = try? codec.encode(.map(parts), bytesMax: most) { return body }
    let short = String(message.unicodeScalars.prefix(StreamLayout.closeBytesMax / 8))
    return (try? codec.encode(["code": .string(code.rawValue), "message": .string(short)])) ?? []
  }
}
