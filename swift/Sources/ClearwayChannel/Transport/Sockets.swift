// SPDX-License-Identifier: MIT OR Apache-2.0

#if canImport(Glibc)
  @preconcurrency import Glibc
  private let stream = Int32(SOCK_STREAM.rawValue)
#elseif canImport(Musl)
  @preconcurrency import Musl
  private let stream = SOCK_STREAM
#elseif canImport(Darwin)
  @preconcurrency import Darwin
  private let stream = SOCK_STREAM
#endif

/// Where a socket connects to, or listens.
public enum SocketAddress: Sendable, Equatable {
  /// A path in the file system.
  case unix(String)
  /// A host and a TCP port. A listener's port may be 0, for any free one.
  case tcp(host: String, port: Int)
}

extension System {
  /// Makes a non-blocking stream socket that a child process does not inherit. Returns -1 for a failure.
  fileprivate static func socket(_ family: Int32) -> Int32 {
    beforeSpawn.held {
      #if canImport(Glibc)
        let fd = Glibc.socket(family, stream, 0)
      #elseif canImport(Musl)
        let fd = Musl.socket(family, stream, 0)
      #else
        let fd = Darwin.socket(family, stream, 0)
      #endif
      if fd >= 0 { prepare(fd) }
      return fd
    }
  }
}

extension StreamTransport {
  /// Connects to a listening socket. Throws ``ClearwayError/Code/failed`` if no one listens, and after
  /// the timeout, which includes the search for the host's address.
  ///
  /// A cancelled task stops waiting at once.
  public static func connect(
    to address: SocketAddress, limits: TransportLimits = .standard, timeout: Duration = .seconds(10)
  ) async throws -> StreamTransport {
    // A sum with the time must not overflow.
    let timeoutMs = min(timeout.milliseconds, 1 << 40)
    let untilMs = SystemClock().nowMs + timeoutMs
    let late = ClearwayError(.failed, "\(address): \(String(cString: strerror(ETIMEDOUT)))")
    let fd = try await onThread(limitMs: timeoutMs, late: late, closing: System.close) {
      () throws(ClearwayError) in try connected(address, untilMs: untilMs)
    }
    return try StreamTransport(input: fd, output: fd, name: "socket", limits: limits)
  }
}

/// Opens something on a thread of its own. Throws `late` after the limit, because the system's search
/// for the address of a host has no limit of its own.
///
/// A cancelled task stops waiting at once. What the thread opens after that, or after the limit, is
/// closed.
func onThread<Opened: Sendable>(
  limitMs: Int64, late: ClearwayError, closing close: @escaping @Sendable (Opened) -> Void,
  _ open: @escaping @Sendable () throws(ClearwayError) -> Opened
) async throws -> Opened {
  let attempt = ConnectAttempt(close)
  return try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { continuation in
      attempt.begin(continuation, limitMs, late)
      if System.thread({ attempt.end(Result(catching: open)) }) { return }
      attempt.end(.failure(ClearwayError(.failed, "no thread could be started to connect")))
    }
  } onCancel: {
    attempt.cancel()
  }
}

/// A connect that ends once: by its thread, its limit, or the cancellation of its task.
private final class ConnectAttempt<Opened: Sendable>: @unchecked Sendable {
  private let close: @Sendable (Opened) -> Void
  private let lock = Lock()
  private var continuation: CheckedContinuation<Opened, any Error>?
  private var timer: ChannelTimer?
  private var isCancelled = false

  init(_ close: @escaping @Sendable (Opened) -> Void) { self.close = close }

  func begin(
    _ continuation: CheckedContinuation<Opened, any Error>, _ limitMs: Int64, _ late: ClearwayError
  ) {
    let isOver = lock.held {
      if isCancelled { return true }
      self.continuation = continuation
      timer = SystemClock().after(limitMs) { [self] in end(.failure(late)) }
      return false
    }
    if isOver { continuation.resume(throwing: CancellationError()) }
  }

  func end(_ result: Result<Opened, ClearwayError>) {
    if let continuation = take() { return continuation.resume(with: result.mapError { $0 }) }
    if case .success(let opened) = result { close(opened) }
  }

  func cancel() {
    lock.held { isCancelled = true }
    take()?.resume(throwing: CancellationError())
  }

  private func take() -> CheckedContinuation<Opened, any Error>? {
    lock.held {
      timer?.stop()
      timer = nil
      defer { continuation = nil }
      return continuation
    }
  }
}

/// Calls `body` with each form of an address that the system knows.
private func forms<R>(
  _ address: SocketAddress, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> R?
) throws(ClearwayError) -> R {
  switch address {
  case .unix(let path):
    var form = sockaddr_un()
    form.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: form.sun_path)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else {
      throw ClearwayError(.invalidArgument, "path must have 1 to \(room - 1) bytes: path=\(path)")
    }
    withUnsafeMutableBytes(of: &form.sun_path) { $0.copyBytes(from: bytes) }
    let result = withUnsafePointer(to: &form) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body(Int32(AF_UNIX), $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if let result { return result }
  case .tcp(let host, let port):
    try check("port", port, in: 0...65_535)
    var hints = addrinfo()
    hints.ai_socktype = stream
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    if status != 0 {
      throw ClearwayError(
        .failed, "\(host) has no address: \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(found) }
    var next = found
    while let each = next?.pointee {
      if let result = body(each.ai_family, each.ai_addr, each.ai_addrlen) { return result }
      next = each.ai_next
    }
  }
  throw ClearwayError(.failed, "\(address): \(System.lastError())")
}

func connected(_ address: SocketAddress, untilMs: Int64) throws(ClearwayError) -> Int32 {
  let clock = SystemClock()
  return try forms(address) { family, form, size in
    let fd = System.socket(family)
    if fd < 0 { return nil }
    noDelay(fd)
    var status = connect(fd, form, size)
    // A Unix socket whose listener has no room has not begun to connect. The system does not report
    // when there is room.
    while status != 0, errno == EAGAIN {
      if clock.nowMs >= untilMs {
        errno = ETIMEDOUT
        break
      }
      _ = poll(nil, 0, 5)
      status = connect(fd, form, size)
    }
    if status != 0, errno == EINPROGRESS {
      var place = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
      var failure: Int32 = ETIMEDOUT
      if poll(&place, 1, Int32(clamping: max(0, untilMs - clock.nowMs))) > 0 {
        var width = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &width)
      }
      status = failure
      errno = failure
    }
    if status == 0 { return fd }
    let failure = errno
    System.close(fd)
    errno = failure
    return nil
  }
}

/// Small frames leave at once. Has no effect on a Unix socket.
private func noDelay(_ fd: Int32) {
  var yes: Int32 = 1
  setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
}

/// A socket that accepts connections, one for each call of ``accept()``.
///
/// It checks no peer. Listen on a loopback address or a Unix path, or authenticate the peers.
public final class SocketListener: @unchecked Sendable {
  private let fd: Int32
  private let path: String?
  private let limits: TransportLimits
  private let (wakeRead, wakeWrite): (Int32, Int32)
  private let lock = Lock()
  private var isClosed = false
  private var waiting: (turn: Turn, continuation: CheckedContinuation<Int32, any Error>)?
  private var isCancelled = false

  /// Starts to listen. A Unix path must not exist. Throws ``ClearwayError/Code/failed`` if the
  /// address is in use.
  public init(_ address: SocketAddress, backlog: Int = 16, limits: TransportLimits = .standard)
    throws(ClearwayError)
  {
    try check("backlog", backlog, in: 1...4096)
    fd = try forms(address) { family, form, size in
      let fd = System.socket(family)
      if fd < 0 { return nil }
      if family != Int32(AF_UNIX) {
        var yes: Int32 = 1
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      }
      if bind(fd, form, size) == 0, listen(fd, Int32(backlog)) == 0 { return fd }
      let failure = errno
      System.close(fd)
      errno = failure
      return nil
    }
    path = if case .unix(let path) = address { path } else { nil }
    self.limits = limits
    do throws(ClearwayError) {
      (wakeRead, wakeWrite) = try System.pipe()
    } catch {
      System.close(fd)
      throw error
    }
    System.prepare(wakeRead)
    System.prepare(wakeWrite)
  }

  deinit {
    close()
    for fd in [fd, wakeRead, wakeWrite] { System.close(fd) }
  }

  /// The TCP port; 0 for a Unix path.
  public var port: Int {
    var form = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let found = withUnsafeMutablePointer(to: &form) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(fd, $0, &size) }
    }
    guard found == 0, path == nil else { return 0 }
    // The port is at the same place for both versions of the protocol.
    return withUnsafeBytes(of: &form) { Int($0[2]) << 8 | Int($0[3]) }
  }

  /// Waits for the next connection. One task at a time may wait.
  ///
  /// Throws `CancellationError` if the task is cancelled, ``ClearwayError/Code/closed`` after
  /// ``close()``, and ``ClearwayError/Code/invalidArgument`` while another task waits, which goes on.
  public func accept() async throws -> StreamTransport {
    let turn = Turn()
    let accepted = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let refusal: (any Error)? = lock.held {
          if isClosed { return ClearwayError(.closed, "the listener is closed") }
          if Task.isCancelled { return CancellationError() }
          if waiting != nil {
            return ClearwayError(
              .invalidArgument, "one task at a time may wait for a connection: port=\(port)")
          }
          isCancelled = false
          waiting = (turn, continuation)
          return nil
        }
        if let refusal { return continuation.resume(throwing: refusal) }
        if !System.thread({ self.acceptOne() }) {
          take()?.resume(throwing: ClearwayError(.failed, "no thread could be started to accept"))
        }
      }
    } onCancel: {
      // A task that does not wait yet sees its cancellation before it does.
      let isWaiting = lock.held {
        if waiting?.turn !== turn { return false }
        isCancelled = true
        return true
      }
      if isWaiting { wake() }
    }
    return try StreamTransport(input: accepted, output: accepted, name: "socket", limits: limits)
  }

  private func acceptOne() {
    while true {
      let refusal: (any Error)? = lock.held {
        if isClosed { return ClearwayError(.closed, "the listener is closed") }
        return isCancelled ? CancellationError() : nil
      }
      if let refusal {
        take()?.resume(throwing: refusal)
        return
      }
      var places = [
        pollfd(fd: fd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&places, 2, -1)
      if places[1].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = bytes.withUnsafeMutableBytes { System.read(wakeRead, $0) }
        continue
      }
      let accepted = Self.acceptNow(fd)
      if accepted >= 0 {
        noDelay(accepted)
        guard let continuation = take() else { return System.close(accepted) }
        return continuation.resume(returning: accepted)
      }
      // A connection that ended before it was accepted is no error of the listener. Without free
      // descriptors, wait for one.
      if errno == EMFILE || errno == ENFILE { _ = poll(nil, 0, 50) }
    }
  }

  /// Accepts a connection that waits. Does not block.
  private static func acceptNow(_ fd: Int32) -> Int32 {
    System.beforeSpawn.held {
      #if canImport(Glibc)
        let accepted = Glibc.accept(fd, nil, nil)
      #elseif canImport(Musl)
        let accepted = Musl.accept(fd, nil, nil)
      #else
        let accepted = Darwin.accept(fd, nil, nil)
      #endif
      // A failure must keep its errno.
      if accepted >= 0 { System.prepare(accepted) }
      return accepted
    }
  }

  /// Stops listening, and removes the Unix path. Connections that were accepted go on.
  public func close() {
    let isFirst = lock.held {
      defer { isClosed = true }
      return !isClosed
    }
    if isFirst, let path { unlink(path) }
    wake()
  }

  private func wake() {
    _ = withUnsafeBytes(of: 0 as UInt8) { System.write(wakeWrite, $0) }
  }

  private func take() -> CheckedContinuation<Int32, any Error>? {
    lock.held {
      defer { waiting = nil }
      return waiting?.continuation
    }
  }
}
