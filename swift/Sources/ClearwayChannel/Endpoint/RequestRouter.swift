// SPDX-License-Identifier: MIT OR Apache-2.0

/// A channel's name as a key.
///
/// Two names are equal if their bytes are, as in other languages. Two texts of Swift are also equal if they
/// are other bytes of the same letters.
package struct ChannelName: Hashable, Sendable {
  private let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: ChannelName, right: ChannelName) -> Bool {
    isSameText(left.text, right.text)
  }

  package func hash(into hasher: inout Hasher) { hashText(text, into: &hasher) }
}

/// A request of the other end: a call, a post or a stream.
final class Request: @unchecked Sendable {
  enum Kind {
    case served(Served)
    case stream(RequestedStream)
  }

  let kind: Kind
  fileprivate let channel: ChannelName
  fileprivate let bytes: Int

  init(_ kind: Kind, _ channel: String, _ bytes: Int) {
    self.kind = kind
    self.channel = ChannelName(channel)
    self.bytes = bytes
  }

  fileprivate var isStream: Bool { if case .stream = kind { true } else { false } }

  func refuse(_ status: Status) {
    switch kind {
    case .served(let served): served.answer(status)
    case .stream(let stream): stream.refuse(status)
    }
  }
}

/// Serves the requests of a channel. Called under the lock, so it only schedules work.
protocol ChannelHandler: AnyObject, Sendable {
  func request(_ served: Served)
  func listen(_ stream: RequestedStream)
}

extension ChannelHandler {
  func request(_ served: Served) {
    served.answer(.notImplemented)
    served.ended()
  }

  func listen(_ stream: RequestedStream) { stream.refuse(.notImplemented) }
}

/// Passes the other end's requests to the handler of their channel. Keeps those that come earlier.
/// The endpoint's lock guards it.
final class RequestRouter: @unchecked Sendable {
  private let connection: Connection
  let replies: Replies
  private var handlers: [ChannelName: any ChannelHandler] = [:]
  private var early: Early<Request>
  /// The calls without an answer.
  private var open: [UInt32: (served: Served, request: Request)] = [:]
  /// The posts that have not settled.
  private var posts: [ObjectIdentifier: Served] = [:]
  /// The calls and posts that count against `callsMax`.
  private var counted: Set<ObjectIdentifier> = []
  /// The requests that arrived while the replies were full.
  private var held = Deque<Request>()
  private var heldBytes = 0
  /// The channels of which a dropped post was reported. Another one is reported after a request of the
  /// channel has run while no other did, so that a flood of posts is not a flood of errors.
  private var dropping: Set<ChannelName> = []
  private var isFinishing = false
  /// The number of channels whose dropped posts are reported. The other end chooses the names.
  private static let droppingMax = 64
  private var timer: ChannelTimer?
  private var whenIdle: [() -> Void] = []

  init(_ connection: Connection, _ replies: Replies) {
    self.connection = connection
    self.replies = replies
    let settings = connection.settings
    early = Early(
      each: settings.early, bytesMax: settings.earlyBytesMax,
      keptMs: settings.earlyTime.milliseconds)
  }

  var count: Int { counted.count }

  /// Registers a channel's handler. Returns false if it has one.
  func handle(_ name: String, _ handler: any ChannelHandler) -> Bool {
    connection.locked {
      let name = ChannelName(name)
      if handlers[name] != nil { return false }
      // No request comes after the end, and a handler often captures the endpoint: keeping it would
      // keep both for ever.
      if connection.reason != nil { return true }
      handlers[name] = handler
      for request in early.take(name) { dispatch(handler, request) }
      return true
    }
  }

  func unhandle(_ name: String, _ handler: any ChannelHandler) {
    let name = ChannelName(name)
    connection.locked { if handlers[name] === handler { handlers[name] = nil } }
  }

  func request(_ frame: Frame, _ channel: String, isWanted: Bool) {
    if isWanted, open[frame.head.id] != nil {
      return connection.broken("two calls of number \(frame.head.id)")
    }
    let served = Served(connection, self, frame, channel, isWanted: isWanted)
    let request = Request(.served(served), channel, frame.memory)
    let hasRoom = counted.count < connection.settings.callsMax
    if hasRoom { counted.insert(ObjectIdentifier(served)) }
    if isWanted {
      open[served.id] = (served, request)
    } else {
      posts[ObjectIdentifier(served)] = served
    }
    if !hasRoom { return refuse(request, .busy) }
    admit(request)
  }

  func listen(_ request: Request) { admit(request) }

  /// Cancels a call that its caller has given up.
  func cancel(_ id: UInt32) {
    guard let (served, request) = open[id] else { return }
    withdraw(request)
    served.cancel()
    checkIdle()
  }

  /// Removes a request that waits for its handler.
  func withdraw(_ request: Request) {
    if held.remove(where: { $0 === request }) != nil {
      heldBytes -= request.bytes
    } else {
      early.remove(request.channel, request)
    }
  }

  /// Called when a request is answered or cancelled, before its answer is sent.
  func settled(_ served: Served) {
    if served.isWanted { open[served.id] = nil } else { posts[ObjectIdentifier(served)] = nil }
  }

  func finished(_ served: Served) {
    counted.remove(ObjectIdentifier(served))
    checkIdle()
  }

  /// Refuses the calls that arrive from now on. Until the closing end's own calls are answered, it serves
  /// calls, because the handlers of the other end may call back. Runs `act` when all requests are answered
  /// and all answers are sent.
  func finish(_ act: @escaping () -> Void) {
    isFinishing = true
    whenIdle.append(act)
    checkIdle()
  }

  /// Refuses the requests that wait for a handler, because the endpoint is closing.
  func refuseEarly() { expire(.max) }

  /// Cancels all requests, because the transport has closed.
  func closed() {
    timer?.stop()
    _ = early.expire(.max)
    held.removeAll()
    replies.clear()
    for served in open.values.map(\.served) + Array(posts.values) { served.cancel() }
    counted = []
    // The handlers outlive the lock, because their closures may run code when they are destroyed.
    let old = handlers
    handlers = [:]
    connection.later { withExtendedLifetime(old) {} }
  }

  func drain() {
    replies.drain()
    checkIdle()
  }

  /// Passes on the requests that were held back, until the replies are full again.
  func release() {
    while !replies.isFull, let next = held.popFirst() {
      heldBytes -= next.bytes
      route(next)
    }
  }

  func checkIdle() {
    if open.count + posts.count > 0 || !replies.isEmpty { return }
    for act in whenIdle { connection.later(act) }
    whenIdle = []
  }

  private func admit(_ request: Request) {
    if held.isEmpty, !replies.isFull { return route(request) }
    replies.updatePause()
    if heldBytes >= connection.settings.replyBytesMax { return refuse(request, .busy) }
    held.append(request)
    heldBytes += request.bytes
  }

  private func route(_ request: Request) {
    // The answer says that nothing has run.
    if isFinishing || (connection.isClosing && request.isStream) {
      return refuse(request, .noHandler)
    }
    if let handler = handlers[request.channel] { return dispatch(handler, request) }
    let settings = connection.settings
    if settings.earlyTime == .zero || connection.isClosing { return refuse(request, .noHandler) }
    for dropped in early.add(request.channel, request, request.bytes, settings.clock.nowMs) {
      refuse(dropped, .dropped)
    }
    startTimer()
  }

  private func dispatch(_ handler: any ChannelHandler, _ request: Request) {
    switch request.kind {
    case .served(let served):
      if served.isSettled { return }
      if counted.count < 2 { dropping.remove(request.channel) }
      handler.request(served)
    case .stream(let stream): handler.listen(stream)
    }
  }

  /// Refuses a request that has not run. The sender of a post receives no answer, so this end reports it.
  private func refuse(_ request: Request, _ status: Status) {
    guard case .served(let served) = request.kind, !served.isWanted, !served.isSettled else {
      return request.refuse(status)
    }
    request.refuse(status)
    if connection.isClosing || dropping.count >= Self.droppingMax { return }
    if !dropping.insert(request.channel).inserted { return }
    let why = "a post to \(served.channel) was dropped, and others may be"
    let error = ClearwayError(statusError(status.rawValue, channel: served.channel).code, why)
    connection.later { [connection] in connection.report(error, served.channel) }
  }

  private func startTimer() {
    guard timer == nil, let next = early.nextMs else { return }
    let clock = connection.settings.clock
    timer = clock.after(max(1, next - clock.nowMs)) { [weak self] in
      guard let self else { return }
      connection.locked {
        timer = nil
        expire(clock.nowMs)
        startTimer()
      }
    }
  }

  private func expire(_ nowMs: Int64) {
    for request in early.expire(nowMs) { refuse(request, .noHandler) }
  }
}

/// The messages that arrived before their channel has a handler. Does no input or output.
///
/// The messages of each channel, the bytes of all and the time are limited. The methods return the
/// entries that were dropped or have expired, and the caller answers them.
struct Early<Entry: AnyObject> {
  private struct Kept {
    let entry: Entry
    let bytes: Int
    let untilMs: Int64
  }

  private let each: Int
  private let bytesMax: Int
  private let keptMs: Int64
  /// The entries of each channel that has some, oldest first.
  private var buffers: [ChannelName: Deque<Kept>] = [:]
  private var bytes = 0

  init(each: Int, bytesMax: Int, keptMs: Int64) {
    self.each = each
    self.bytesMax = bytesMax
    // A sum with the time must not overflow.
    self.keptMs = min(keptMs, 1 << 40)
  }

  /// Keeps an entry. Returns the entries that were dropped: old ones, the new one, or both.
  mutating func add(_ name: ChannelName, _ entry: Entry, _ size: Int, _ nowMs: Int64) -> [Entry] {
    if each == 0 || size > bytesMax { return [entry] }
    var dropped: [Entry] = []
    while let buffer = buffers[name], buffer.count >= each || bytes + size > bytesMax {
      dropped += shift(name, 1) { _ in true }
    }
    // Messages of other channels are never dropped to make room.
    if bytes + size > bytesMax { return dropped + [entry] }
    buffers[name, default: Deque()].append(
      Kept(entry: entry, bytes: size, untilMs: nowMs + keptMs))
    bytes += size
    return dropped
  }

  /// Removes and returns all entries of a channel, oldest first.
  mutating func take(_ name: ChannelName) -> [Entry] { shift(name) { _ in true } }

  mutating func remove(_ name: ChannelName, _ entry: Entry) {
    guard let kept = buffers[name]?.remove(where: { $0.entry === entry }) else { return }
    bytes -= kept.bytes
    if buffers[name]?.isEmpty == true { buffers[name] = nil }
  }

  /// Removes and returns the entries that have expired.
  mutating func expire(_ nowMs: Int64) -> [Entry] {
    buffers.keys.flatMap { name in shift(name) { $0.untilMs <= nowMs } }
  }

  /// When the next entry expires; nil without an entry.
  var nextMs: Int64? { buffers.values.compactMap { $0.first?.untilMs }.min() }

  private mutating func shift(
    _ name: ChannelName, _ most: Int = .max, _ matches: (Kept) -> Bool
  ) -> [Entry] {
    var taken: [Entry] = []
    while taken.count < most, let first = buffers[name]?.first, matches(first) {
      _ = buffers[name]?.popFirst()
      bytes -= first.bytes
      taken.append(first.entry)
    }
    if buffers[name]?.isEmpty == true { buffers[name] = nil }
    return taken
  }
}
