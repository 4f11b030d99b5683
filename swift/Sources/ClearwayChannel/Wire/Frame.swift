// SPDX-License-Identifier: MIT OR Apache-2.0

// byte   0    1      2 3     4..7   8..11  12..15  16..19  20 21        22 23
//      +----+-------+------+------+------+-------+-------+-------------+------+
//      | op | flags | name | id   | a    | b     | body  | attachments | c    |   24 bytes
//      +----+-------+------+------+------+-------+-------+-------------+------+
//      | name | body | table of sizes | attachments |   each starts at a multiple of 8

/// The kinds of frames (`spec/channel.md`).
enum Op {
  static let hello: UInt8 = 0
  static let call: UInt8 = 1
  static let reply: UInt8 = 2
  static let cancel: UInt8 = 3
  static let post: UInt8 = 4
  static let listen: UInt8 = 5
  static let event: UInt8 = 6
  static let end: UInt8 = 7
  static let credit: UInt8 = 8
  static let stop: UInt8 = 9
}

enum Flag {
  static let inside: UInt8 = 1
  static let whole: UInt8 = 2
  static let empty: UInt8 = 4
  /// The position of the policy for a full queue in the flags of a `listen`.
  static let whenFullShift: UInt8 = 4
}

/// The ways in which a call or a stream ends.
enum Status: UInt32 {
  case done = 0
  case error
  case notImplemented
  case noHandler
  case dropped
  case cancelled
  case timeout
  case busy
}

let headBytes = 24

/// The largest size of a head and paddings.
let frameOverhead = 32

/// The numbers in the head of a frame to send.
struct Head {
  var op: UInt8
  var flags: UInt8 = 0
  var id: UInt32 = 0
  var a: UInt32 = 0
  var b: UInt32 = 0
  var c: UInt16 = 0
}

/// A frame that arrived. The name, the body and the attachments are ranges of its bytes.
struct Frame {
  let head: Head
  let bytes: [UInt8]
  let name: Range<Int>
  let message: Received

  /// The bytes that a request counts while it waits. Its name is also kept as a text.
  var memory: Int { requestBytes + 2 * name.count + message.memory }

  /// The bytes that an event counts while it waits to be read (`spec/channel.md`): those of the frame,
  /// and its objects, which are the event and its attachments.
  var keptBytes: Int {
    name.count + Int(message.weight) + entryBytes * (1 + message.attachments.count)
  }
}

/// A message that is not decoded yet.
struct Received {
  let bytes: [UInt8]
  let body: Range<Int>
  let flags: UInt8
  let attachments: [Range<Int>]

  /// The bytes of credit that the message uses.
  var weight: Int64 { attachments.reduce(Int64(body.count)) { $0 + Int64($1.count) } }

  /// The bytes that it holds in memory while it waits. An empty attachment has four bytes in the frame,
  /// and a range.
  var memory: Int { Int(weight) + attachments.count * (4 + MemoryLayout<Range<Int>>.stride) }
}

private func padded(_ size: Int) -> Int { (size + 7) & ~7 }

/// Returns a frame. Copies the name and the body.
func writeFrame(_ head: Head, name: [UInt8] = [], body: [UInt8] = []) -> [UInt8] {
  let bodyAt = headBytes + padded(name.count)
  let size = bodyAt + body.count
  return [UInt8](unsafeUninitializedCapacity: size) { memory, count in
    let to = UnsafeMutableRawBufferPointer(memory)
    to.storeBytes(of: head.op, toByteOffset: 0, as: UInt8.self)
    to.storeBytes(of: head.flags, toByteOffset: 1, as: UInt8.self)
    to.storeBytes(of: UInt16(name.count), toByteOffset: 2, as: UInt16.self)
    to.storeBytes(of: head.id, toByteOffset: 4, as: UInt32.self)
    to.storeBytes(of: head.a, toByteOffset: 8, as: UInt32.self)
    to.storeBytes(of: head.b, toByteOffset: 12, as: UInt32.self)
    to.storeBytes(of: UInt32(body.count), toByteOffset: 16, as: UInt32.self)
    to.storeBytes(of: 0, toByteOffset: 20, as: UInt16.self)
    to.storeBytes(of: head.c, toByteOffset: 22, as: UInt16.self)
    for at in headBytes..<bodyAt { memory[at] = 0 }
    name.withUnsafeBytes { from in
      UnsafeMutableRawBufferPointer(rebasing: to[headBytes...]).copyMemory(from: from)
    }
    body.withUnsafeBytes { from in
      UnsafeMutableRawBufferPointer(rebasing: to[bodyAt...]).copyMemory(from: from)
    }
    count = size
  }
}

/// Parses a frame without copying. Returns nil if the bytes are not a frame.
func readFrame(_ bytes: [UInt8]) -> Frame? {
  guard bytes.count >= headBytes else { return nil }
  return bytes.withUnsafeBytes { from -> Frame? in
    func word(_ at: Int) -> UInt32 { from.loadUnaligned(fromByteOffset: at, as: UInt32.self) }
    func half(_ at: Int) -> UInt16 { from.loadUnaligned(fromByteOffset: at, as: UInt16.self) }
    let flags = from[1]
    let nameBytes = Int(half(2))
    let bodyBytes = Int(word(16))
    let count = Int(half(20))
    let bodyAt = headBytes + padded(nameBytes)
    let bodyEnd = bodyAt + bodyBytes
    guard bodyEnd <= bytes.count else { return nil }
    var attachments: [Range<Int>] = []
    if flags & Flag.inside != 0 {
      let tableAt = padded(bodyEnd)
      var at = tableAt + padded(count * 4)
      guard count > 0, at <= bytes.count else { return nil }
      for index in 0..<count {
        let size = Int(word(tableAt + index * 4))
        guard size <= bytes.count - at else { return nil }
        attachments.append(at..<(at + size))
        at += padded(size)
      }
      guard at == bytes.count else { return nil }
    } else if count != 0 || bodyEnd != bytes.count {
      return nil
    }
    let head = Head(op: from[0], flags: flags, id: word(4), a: word(8), b: word(12), c: half(22))
    let message = Received(
      bytes: bytes, body: bodyAt..<bodyEnd, flags: flags & (Flag.whole | Flag.empty),
      attachments: attachments)
    return Frame(
      head: head, bytes: bytes, name: headBytes..<(headBytes + nameBytes), message: message)
  }
}

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
