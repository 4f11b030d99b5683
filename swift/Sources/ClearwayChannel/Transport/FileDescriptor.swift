// SPDX-License-Identifier: MIT OR Apache-2.0
#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#elseif canImport(Darwin)
  @preconcurrency import Darwin
#endif

/// The system's calls that the transports use, with their errors as values.
enum System {
  enum Outcome {
    case bytes(Int)
    case wouldBlock
    case failed(String)
  }

  static func read(_ fd: Int32, _ memory: UnsafeMutableRawBufferPointer) -> Outcome {
    while true {
      let count = platformRead(fd, memory.baseAddress, memory.count)
      if count >= 0 { return .bytes(count) }
      if errno == EINTR { continue }
      if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
      return .failed(lastError())
    }
  }

  static func write(_ fd: Int32, _ memory: UnsafeRawBufferPointer) -> Outcome {
    while true {
      let count = platformWrite(fd, memory.baseAddress, memory.count)
      if count >= 0 { return .bytes(count) }
      if errno == EINTR { continue }
      if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
      return .failed(lastError())
    }
  }

  /// Reads and drops what arrives, until the end of the input or the limit.
  static func readToEnd(_ fd: Int32, _ piece: UnsafeMutableRawBufferPointer, atMostMs: Int64) {
    let clock = SystemClock()
    let untilMs = clock.nowMs + atMostMs
    while clock.nowMs < untilMs {
      var place = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
      // A negative time would wait without a limit.
      if poll(&place, 1, Int32(clamping: max(0, untilMs - clock.nowMs))) <= 0 { continue }
      switch read(fd, piece) {
      case .bytes(let count) where count > 0: continue
      case .wouldBlock: continue
      default: return
      }
    }
  }

  /// Ends the output, and reads to the end of the input, if there is one. A socket that is closed with
  /// unread bytes would reset the connection, and the other end could lose the reason.
  static func linger(
    _ input: Int32?, _ output: Int32, _ piece: UnsafeMutableRawBufferPointer, atMostMs: Int64
  ) {
    if input == output { _ = shutdown(output, Int32(SHUT_WR)) } else { close(output) }
    guard let input else { return }
    readToEnd(input, piece, atMostMs: atMostMs)
    close(input)
  }

  private static func platformRead(_ fd: Int32, _ to: UnsafeMutableRawPointer?, _ count: Int) -> Int
  {
    #if canImport(Glibc)
      Glibc.read(fd, to, count)
    #elseif canImport(Musl)
      Musl.read(fd, to, count)
    #else
      Darwin.read(fd, to, count)
    #endif
  }

  private static func platformWrite(_ fd: Int32, _ from: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.write(fd, from, count)
    #elseif canImport(Musl)
      Musl.write(fd, from, count)
    #else
      Darwin.write(fd, from, count)
    #endif
  }

  /// Makes a descriptor non-blocking, and one that a child process does not inherit. A write to it does
  /// not end the process.
  static func prepare(_ fd: Int32) {
    _ = ignorePipeSignal
    _ = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK)
    _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
    #if canImport(Darwin)
      _ = fcntl(fd, F_SETNOSIGPIPE, 1)
    #endif
  }

  /// Lets a write to a pipe without a reader fail instead of ending the process, unless the program
  /// handles that signal itself.
  private static let ignorePipeSignal: Void = {
    var action = sigaction()
    sigaction(SIGPIPE, nil, &action)
    #if canImport(Darwin)
      let handler = action.__sigaction_u.__sa_handler
    #else
      let handler = action.__sigaction_handler.sa_handler
    #endif
    if handler == nil { signal(SIGPIPE, SIG_IGN) }
  }()

  static func lastError() -> String { String(cString: strerror(errno)) }

  /// Held while a descriptor is made and marked as one that a child does not inherit, and while a child
  /// is started. A child that starts between the two steps would keep the descriptor open.
  static let beforeSpawn = Lock()

  /// Returns the two ends of a pipe: for reading, and for writing.
  static func pipe() throws(ClearwayError) -> (Int32, Int32) {
    var ends: [Int32] = [0, 0]
    let status = beforeSpawn.held {
      #if canImport(Glibc)
        let status = Glibc.pipe(&ends)
      #elseif canImport(Musl)
        let status = Musl.pipe(&ends)
      #else
        let status = Darwin.pipe(&ends)
      #endif
      for end in ends where status == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return status
    }
    if status != 0 { throw ClearwayError(.failed, "no pipe could be made: \(lastError())") }
    return (ends[0], ends[1])
  }

  static func close(_ fd: Int32) {
    #if canImport(Glibc)
      _ = Glibc.close(fd)
    #elseif canImport(Musl)
      _ = Musl.close(fd)
    #else
      _ = Darwin.close(fd)
    #endif
  }

  /// Runs `body` on a new thread. Returns false if the system starts none.
  static func thread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(ThreadBody(body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    #if canImport(Darwin)
      var id: pthread_t?
      let status = pthread_create(
        &id, &attributes,
        { pointer in
          Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().body()
          return nil
        }, box.toOpaque())
    #else
      var id = pthread_t()
      let status = pthread_create(
        &id, &attributes,
        { pointer in
          if let pointer { Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().body() }
          return nil
        }, box.toOpaque())
    #endif
    if status != 0 { box.release() }
    return status == 0
  }

  private final class ThreadBody {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

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
