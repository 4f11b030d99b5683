// SPDX-License-Identifier: MIT OR Apache-2.0

#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#elseif canImport(Darwin)
  @preconcurrency import Darwin
#endif

/// Carries frames over a pipe, a socket or the standard streams of a process (`spec/stdio.md`), or as
/// messages of a WebSocket (`spec/websocket.md`).
///
/// One thread reads and writes. A `send` on an idle transport writes at once, without that thread.
public final class StreamTransport: OwnTransport, @unchecked Sendable {
  /// The wait for the rest to leave after a close. A peer that has stopped reading must not delay
  /// the close for ever. The implementations in other languages wait for the same time.
  static let leaveMs: Int64 = 5_000
  /// The wait after a failure, in which the other end's reason may still arrive.
  static let endEventsMs: Int64 = 1_000
  private static let pieceBytes = 1 << 16

  /// "stdio", "socket" or "websocket".
  public let name: String
  /// Whether the other end is a child process or the parent.
  public let isTrusted: Bool
  private let limits: TransportLimits
  private let input: Int32
  private let outputFD: Int32
  /// Whether the input is closed at the end, and not only the output.
  private let ownsInput: Bool
  private let child: ChildProcess?
  private let framing: any StreamFraming
  /// The bytes of the input that were read before.
  private let first: [UInt8]
  private let (wakeRead, wakeWrite): (Int32, Int32)

  let owner = Once()
  private let opened = Once()
  private let lock = Lock()
  private var output: StreamOutput
  private var sink: (any ChannelSink)?
  private var isRunning = false
  private var isPaused = false
  private var isWoken = false
  private var isFull = false
  private var writeError: String?
  private var end: CloseReason?
  private var isClosedReported = false
  /// What the other end has taken, if it says so.
  private var window: MarkedWindow?
  /// Answers that wait for room, the last one of each kind.
  private var answers: [UInt8: [UInt8]] = [:]

  /// What arrived while the delivery was paused. Only the thread uses it.
  private var early = Deque<StreamEvent>()
  private var earlyBytes = 0

  /// Takes the descriptors over, and closes them at its end, or when it throws.
  ///
  /// Makes them non-blocking. Both may be the same socket. Throws
  /// ``ClearwayError/Code/failed`` if the system has no descriptor left.
  public convenience init(
    input: Int32, output: Int32, name: String = "stdio", limits: TransportLimits = .standard
  ) throws(ClearwayError) {
    try self.init(
      input: input, output: output, name: name, limits: limits, isTrusted: false, owns: true,
      child: nil)
  }

  init(
    input: Int32, output: Int32, name: String, limits: TransportLimits, isTrusted: Bool,
    owns: Bool, child: ChildProcess?, framing: any StreamFraming = StdioFraming(),
    first: [UInt8] = []
  ) throws(ClearwayError) {
    do {
      (wakeRead, wakeWrite) = try System.pipe()
    } catch {
      for fd in owns ? Set([input, output]) : [output] { System.close(fd) }
      throw error
    }
    for fd in [input, output, wakeRead, wakeWrite] { System.prepare(fd) }
    self.input = input
    outputFD = output
    self.output = StreamOutput(fd: output, framing: framing)
    window = framing.window(limits.windowBytes)
    self.framing = framing
    self.first = first
    self.name = name
    self.limits = limits
    self.isTrusted = isTrusted
    self.child = child
    ownsInput = owns
  }

  deinit {
    // The thread of a transport that was opened or closed keeps it until it has closed the streams.
    if !isRunning {
      closeStreams()
      if let child { _ = System.thread { child.reap() } }
    }
    System.close(wakeRead)
    System.close(wakeWrite)
  }

  /// The largest frame in bytes.
  public var frameBytesMax: Int { limits.frameBytesMax }

  /// Starts to deliver frames to the sink. After a close, only tells the sink of it.
  public func open(_ sink: any ChannelSink) {
    let (mustStart, reason) = lock.held { () -> (Bool, CloseReason?) in
      if !opened.take() { return (false, .openedBefore) }
      if isClosedReported { return (false, end ?? .closed) }
      self.sink = sink
      defer { isRunning = true }
      return (!isRunning, nil)
    }
    if let reason {
      Task { sink.closed(reason) }
    } else if mustStart {
      start()
    } else {
      wake()
    }
  }

  private func start() {
    if System.thread({ self.run() }) { return }
    let reason = CloseReason(.failed, "no thread could be started")
    let sink = lock.held {
      end = end ?? reason
      isClosedReported = true
      return self.sink
    }
    closeStreams()
    Task { sink?.closed(reason) }
  }

  /// Sends a frame. Writes it at once if nothing waits.
  public func send(_ frame: [UInt8]) -> Bool {
    if frame.count > limits.frameBytesMax { return refuse(frame) }
    return lock.held {
      if end != nil || writeError != nil { return false }
      let wasIdle = output.isEmpty
      output.append(framing.frameKind, frame)
      if let mark = window?.sent(weight(frame)) {
        output.append(WebSocketLayout.text, MarkedWindow.markText(mark))
      }
      if wasIdle { flush() }
      if output.waitingBytes >= limits.windowBytes || window?.isFull == true { isFull = true }
      if wasIdle, !output.isEmpty || writeError != nil { wake() }
      return !isFull && writeError == nil
    }
  }

  /// Pauses reading until ``resume()``.
  public func pause() { lock.held { isPaused = true } }

  /// Continues reading.
  public func resume() {
    lock.held { isPaused = false }
    wake()
  }

  /// Closes the transport after it has written what was sent.
  public func close(_ reason: CloseReason) { finish(reason, isSent: true) }

  private func wake() {
    lock.held {
      if isWoken { return }
      isWoken = true
      _ = withUnsafeBytes(of: 0 as UInt8) { System.write(wakeWrite, $0) }
    }
  }

  /// Writes what waits, as far as the system takes it. The caller holds the lock.
  private func flush() {
    if case .failed(let why) = output.flush() {
      writeError = why
      output.drop()
    }
  }

  private func finish(_ reason: CloseReason, isSent: Bool) {
    let mustStart = lock.held {
      if end != nil { return false }
      end = reason
      // Nothing may follow the reason.
      answers = [:]
      if !isSent { output.drop() }
      if isSent, writeError == nil {
        let (kind, body) = framing.closing(reason)
        output.append(kind, body)
        flush()
      }
      defer { isRunning = true }
      return !isRunning
    }
    if mustStart { start() } else { wake() }
  }

  /// The thread: reads, writes what did not leave at once, and calls the sink.
  private func run() {
    var reader = framing.reader(frameBytesMax: limits.frameBytesMax)
    var isInputOver = false
    var hasRead = first.isEmpty
    var deadlineMs: Int64?
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    defer { piece.deallocate() }
    let clock = SystemClock()
    var keepAlive = framing.keepAlive
    while true {
      deliverEarly()
      let (wantsInput, wantsOutput, hasEnded, hasFailed) = lock.held {
        (
          mayRead && !isInputOver && end == nil && sink != nil, !output.isEmpty, end != nil,
          writeError != nil
        )
      }
      if !hasRead, wantsInput {
        hasRead = true
        first.withUnsafeBytes { reader.push($0, receive) }
        isInputOver = reader.hasEnded
        continue
      }
      if hasEnded, !wantsOutput { break }
      if hasEnded || hasFailed, deadlineMs == nil {
        deadlineMs = clock.nowMs + (hasEnded ? Self.leaveMs : Self.endEventsMs)
      }
      if let limit = deadlineMs, clock.nowMs >= limit {
        if hasEnded { break }
        deadlineMs = nil
        finish(CloseReason(.lost, "the other end closed its input"), isSent: false)
        continue
      }
      let waits = [deadlineMs.map { $0 - clock.nowMs }, keepAlive?.leftMs].compactMap { $0 }
      let timeout = waits.min().map { Int32(clamping: max(1, $0)) } ?? -1
      var places = [
        pollfd(fd: wantsInput ? input : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wantsOutput ? outputFD : -1, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&places, 3, timeout)
      if places[2].revents != 0 {
        // Under the lock: this read must not take the byte of a later wake.
        lock.held {
          _ = System.read(wakeRead, piece)
          isWoken = false
        }
      }
      if places[1].revents != 0 { writeMore() }
      if places[0].revents != 0 {
        keepAlive?.heard()
        isInputOver = readMore(&reader, piece)
      }
      switch keepAlive?.step(isRead: wantsInput) {
      case .ping: answer(WebSocketLayout.ping, [])
      case .lost(let reason): finish(reason, isSent: false)
      case nil: break
      }
    }
    reportClosed()
    // The child's end owns its copy of the standard output, and not its standard input.
    System.linger(ownsInput ? input : nil, outputFD, piece, atMostMs: Self.leaveMs)
    child?.reap()
  }

  private func writeMore() {
    let hasRoom = lock.held {
      flush()
      if !answers.isEmpty, output.waitingBytes * 2 <= limits.windowBytes {
        for (kind, body) in answers { output.append(kind, body) }
        answers = [:]
        flush()
      }
      return takesMore()
    }
    if hasRoom { lock.held { sink }?.drained() }
  }

  /// Whether a full transport has room again. The caller holds the lock.
  private func takesMore() -> Bool {
    let hasRoom =
      isFull && end == nil && output.waitingBytes * 2 <= limits.windowBytes
      && window?.isFull != true
    if hasRoom { isFull = false }
    return hasRoom
  }

  /// Whether to read on. The caller holds the lock.
  ///
  /// An end with marks also reads while the delivery is paused, because what the other end has taken
  /// makes room for frames to send. The other end may send one frame beyond its window. A window as
  /// large as this end's may be full of the smallest frames, which take five times their weight here.
  private var mayRead: Bool {
    let window = self.window == nil ? 0 : 5 * min(limits.windowBytes, Int(UInt32.max))
    return !isPaused || (window > 0 && earlyBytes < limits.frameBytesMax + window)
  }

  // MARK: Events of the reader

  /// Delivers an event, or keeps it while the delivery is paused.
  private func receive(_ event: StreamEvent) {
    switch event {
    case .taken(let total): return taken(total)
    case .ping(let body): return answer(WebSocketLayout.pong, body)
    default: break
    }
    if early.isEmpty, !lock.held({ isPaused }) { return deliver(event) }
    early.append(event)
    earlyBytes += event.memory
  }

  private func deliverEarly() {
    while !lock.held({ isPaused && end == nil }), let event = early.popFirst() {
      earlyBytes -= event.memory
      deliver(event)
    }
  }

  private func deliver(_ event: StreamEvent) {
    switch event {
    case .frame(let frame): lock.held { end == nil ? sink : nil }?.frame(frame)
    // A close frame of the other end is answered with one of this end.
    case .end(let reason): finish(reason, isSent: true)
    case .over(let reason): finish(reason, isSent: false)
    case .mark(let total): answer(WebSocketLayout.text, MarkedWindow.takenText(total))
    case .ping, .taken: break
    }
  }

  private func taken(_ total: Int) {
    let (isKnown, hasRoom) = lock.held { () -> (Bool, Bool) in
      guard window?.taken(total) ?? false else { return (false, false) }
      return (true, takesMore())
    }
    if !isKnown {
      return finish(
        CloseReason(.protocolViolation, "a reply to no mark: taken \(total)"), isSent: true)
    }
    if hasRoom { lock.held { sink }?.drained() }
  }

  /// Answers the other end, or asks it. An end that asks and never reads must not fill the memory: if there is no
  /// room, only the last answer of a kind is kept. A newer one replaces it, and does not overtake it.
  private func answer(_ kind: UInt8, _ body: [UInt8]) {
    lock.held {
      if end != nil || writeError != nil { return }
      if answers[kind] != nil || output.waitingBytes >= limits.windowBytes {
        answers[kind] = body
      } else {
        // `writeMore` writes what is behind other bytes: only it reports that there is room again.
        let wasIdle = output.isEmpty
        output.append(kind, body)
        if wasIdle { flush() }
      }
    }
  }

  /// Returns whether the input has ended.
  private func readMore(
    _ reader: inout any StreamReader, _ piece: UnsafeMutableRawBufferPointer
  ) -> Bool {
    switch System.read(input, piece) {
    case .wouldBlock: return false
    case .bytes(let count) where count > 0:
      reader.push(UnsafeRawBufferPointer(rebasing: piece[..<count]), receive)
      return reader.hasEnded
    case .bytes:
      receive(
        .over(
          child?.exitReason(withinMs: Self.endEventsMs)
            ?? CloseReason(
              .lost,
              "the other end closed its output"
                + (reader.isInside ? " in the middle of a frame" : ""))))
      return true
    case .failed(let why):
      receive(.over(CloseReason(.lost, "reading failed: \(why)")))
      return true
    }
  }

  private func reportClosed() {
    let (reason, sink) = lock.held {
      isClosedReported = true
      output.drop()
      defer { self.sink = nil }
      return (end ?? .closed, self.sink)
    }
    sink?.closed(reason)
  }

  private func closeStreams() {
    for fd in ownsInput ? Set([input, outputFD]) : [outputFD] { System.close(fd) }
  }
}
