// SPDX-License-Identifier: MIT OR Apache-2.0

/// The bytes that wait to be written to a descriptor.
///
/// Small frames are joined, so that one write carries several. Large frames are written from their
/// own memory.
struct StreamOutput {
  let fd: Int32
  private let framing: any StreamFraming
  private var queue = Deque<(kind: UInt8, frame: [UInt8])>()
  /// Headers and small frames that are being written, and how far.
  private var staged: [UInt8] = []
  private var stagedDone = 0
  /// The large frame that follows the staged bytes, and how far it was written.
  private var large: [UInt8] = []
  private var largeDone = 0
  /// The bytes that wait, and those of their entries.
  private(set) var waitingBytes = 0

  private static let smallMax = 8192
  private static let stagedMax = 1 << 16

  init(fd: Int32, framing: any StreamFraming) {
    self.fd = fd
    self.framing = framing
  }

  var isEmpty: Bool {
    queue.isEmpty && stagedDone == staged.count && largeDone == large.count
  }

  mutating func append(_ kind: UInt8, _ frame: [UInt8]) {
    queue.append((kind, frame))
    waitingBytes += frame.count + entryBytes
  }

  /// Forgets what waits.
  mutating func drop() {
    queue.removeAll()
    staged = []
    large = []
    (stagedDone, largeDone, waitingBytes) = (0, 0, 0)
  }

  /// Writes as much as the system takes.
  mutating func flush() -> System.Outcome {
    while true {
      if stagedDone < staged.count {
        let outcome = Self.write(fd, staged, from: &stagedDone)
        if stagedDone < staged.count { return outcome }
      }
      if largeDone < large.count {
        let before = largeDone
        let outcome = Self.write(fd, large, from: &largeDone)
        waitingBytes -= largeDone - before
        if largeDone < large.count { return outcome }
      }
      if !stage() { return .bytes(0) }
    }
  }

  /// Takes the next frames from the queue. Returns false if there is none.
  private mutating func stage() -> Bool {
    staged.removeAll(keepingCapacity: staged.capacity <= Self.stagedMax * 2)
    (stagedDone, large, largeDone) = (0, [], 0)
    while let (kind, frame) = queue.first {
      if !staged.isEmpty, staged.count + frame.count > Self.stagedMax { break }
      _ = queue.popFirst()
      let (header, body) = framing.pack(kind, frame)
      staged += header
      waitingBytes -= entryBytes
      if body.count > Self.smallMax {
        large = body
        break
      }
      staged += body
      waitingBytes -= body.count
    }
    return !staged.isEmpty
  }

  private static func write(_ fd: Int32, _ bytes: [UInt8], from done: inout Int) -> System.Outcome {
    while done < bytes.count {
      let start = done
      let outcome = bytes.withUnsafeBytes { memory in
        System.write(fd, UnsafeRawBufferPointer(rebasing: memory[start...]))
      }
      guard case .bytes(let count) = outcome else { return outcome }
      done += count
    }
    return .bytes(0)
  }
}
