// SPDX-License-Identifier: MIT OR Apache-2.0
import Dispatch

/// Time after which missing events count as lost, in seconds.
///
/// No load has such a delay, even on a busy machine.
private let lostAfterSeconds = 20.0

/// The rate, in events per second, below which no mechanism falls back to back.
private let slowest = 20_000.0

/// The largest number of delays that are sent to the lab.
private let delaysMax = 100_000

/// Rehearses a mechanism, runs the load once, and returns the delays with the counts of what was
/// lost and reordered.
func measurePush(_ kind: PushKind, _ cell: Cell) throws -> Measured {
  let load = try Load(cell)
  // The first run starts the threads and faults the pages in. The second one also rehearses the waiting.
  _ = try runOnce(kind, Load(count: 20_000, perSecond: 0, loop: load.loop))
  _ = try runOnce(
    kind, Load(count: 200, perSecond: 2500, payloadBytes: load.payloadBytes, loop: load.loop))
  let (receiver, dropped) = try runOnce(kind, load)
  return measured(receiver, dropped: dropped, load: load, promise: kind.promise)
}

private func measured(_ receiver: Receiver, dropped: Int, load: Load, promise: Promise) -> Measured
{
  let lost = load.count - receiver.received
  let isAsPromised: Bool =
    switch promise {
    case .everyInOrder: lost == 0 && receiver.reordered == 0
    case .every: lost == 0
    case .someInOrder: receiver.reordered == 0
    }
  var measured = Measured(
    result: .object([
      "received": .number(Double(receiver.received)),
      "outOfOrder": .number(Double(receiver.reordered)),
      "lost": .number(Double(lost)),
      "accounted": .number(Double(receiver.received + dropped)),
      "wrong": .number(Double(receiver.wrong)),
      "asPromised": .bool(isAsPromised),
    ]))
  measured.values = [
    "reordered": Figure(unit: "events", value: Double(receiver.reordered)),
    "lost": Figure(unit: "events", value: Double(lost)),
  ]
  let every = max(1, (receiver.received + delaysMax - 1) / delaysMax)
  // Back to back in an open loop, all events share one intended time: a delay would say nothing.
  if !load.isBackToBack || load.loop == .closed {
    let delays = receiver.delays
    let sent = stride(from: 0, to: delays.count, by: every).map { delays[$0] }
    measured.samples["latency"] = Samples(unit: "us", ns: sent)
    if every > 1 {
      measured.notes.append("the delays are those of every \(every)th event that arrived")
    }
  }
  if load.isBackToBack {
    measured.values["throughput"] = Figure(unit: "events/s", value: receiver.throughput)
    measured.values["backlogMax"] = Figure(unit: "events", value: Double(receiver.backlogMax))
  }
  return measured
}

/// Opens the mechanism, sends the load, and waits for the last event.
///
/// Throws if events are lost without notice.
private func runOnce(_ kind: PushKind, _ load: Load) throws -> (Receiver, dropped: Int) {
  let receiver = Receiver(count: load.count)
  let seconds = lostAfterSeconds + (load.isBackToBack ? Double(load.count) / slowest : load.seconds)
  func wait(_ dropped: Int) throws -> (Receiver, dropped: Int) {
    guard receiver.waitForEnd(seconds: seconds) else {
      throw LabError("events were lost: received=\(receiver.received) of \(load.count)")
    }
    return (receiver, dropped)
  }
  func inTask(_ run: @escaping @Sendable () async -> Int) throws -> Int {
    let sender = Outcome()
    Task.detached { sender.set(await run()) }
    guard let number = sender.wait(seconds: seconds * 2) else {
      throw LabError("the sender did not end: received=\(receiver.received) of \(load.count)")
    }
    return number
  }
  switch kind.open(receiver) {
  case .calls(let mechanism):
    if load.loop == .open {
      emit(load, mechanism.send)
    } else {
      // As published: the sender is a task.
      _ = try inTask { await emitFromTask(load, mechanism.send) }
    }
    return try wait(mechanism.finish())
  case .task(let run):
    return try wait(inTask { await run(load) })
  }
}

/// A number that a task hands to a waiting thread.
private final class Outcome: @unchecked Sendable {
  private let isSet = DispatchSemaphore(value: 0)
  private var number = 0

  func set(_ number: Int) {
    self.number = number
    isSet.signal()
  }

  /// Waits for the number.
  ///
  /// Returns `nil` after `seconds`.
  func wait(seconds: Double) -> Int? {
    isSet.wait(timeout: .now() + seconds) == .success ? number : nil
  }
}

/// Several mechanisms in a row.
///
/// The published order is a delegate, then a queue, then a stream.
let chainKinds: [PushKind] = [
  chain("one-hop", [delegateHop]),
  chain("two-hops", [delegateHop, queueHop]),
  chain("three-hops", [delegateHop, queueHop, streamHop]),
  chain("one-queue", [queueHop]),
  chain("two-queues", [queueHop, queueHop]),
  chain("three-queues", [queueHop, queueHop, queueHop]),
  chain("one-stream", [streamHop]),
  chain("two-streams", [streamHop, streamHop]),
  chain("three-streams", [streamHop, streamHop, streamHop]),
]

private typealias Send = @Sendable (Event) -> Void

/// A hop that is open.
///
/// `close` returns when the hop has passed on every event, or says that none follows.
private struct Hop: Sendable {
  let send: Send
  let close: @Sendable () -> Void
}

private typealias HopKind = @Sendable (_ next: @escaping Send) -> Hop

private func chain(_ name: String, _ kinds: [HopKind]) -> PushKind {
  PushKind(name) { receiver in
    var hops: [Hop] = []
    var next: Send = { receiver.receive($0) }
    for kind in kinds.reversed() {
      let hop = kind(next)
      hops.insert(hop, at: 0)
      next = hop.send
    }
    return .calls(Chain(first: next, hops: hops))
  }
}

private struct Chain: Sending {
  let first: Send
  let hops: [Hop]

  func send(_ event: Event) { first(event) }

  func finish() -> Int {
    // From the sender to the receiver: a hop must have passed on everything before the one behind it closes.
    for hop in hops { hop.close() }
    return 0
  }
}

/// A plain call through a protocol.
private let delegateHop: HopKind = { next in
  let relay: any EventDelegate = Relay(next)
  return Hop(send: { relay.didReceive($0) }, close: {})
}

private final class Relay: EventDelegate {
  private let next: Send

  init(_ next: @escaping Send) {
    self.next = next
  }

  func didReceive(_ event: Event) { next(event) }
}

private let queueHop: HopKind = { next in
  let queue = DispatchQueue(label: "hop")
  return Hop(send: { event in queue.async { next(event) } }, close: { queue.sync {} })
}

private let streamHop: HopKind = { next in
  let (stream, continuation) = EventStream.makeStream()
  let ended = DispatchSemaphore(value: 0)
  Task.detached {
    for await event in stream { next(event) }
    ended.signal()
  }
  return Hop(
    send: { continuation.yield($0) },
    close: {
      continuation.finish()
      ended.wait()
    })
}
