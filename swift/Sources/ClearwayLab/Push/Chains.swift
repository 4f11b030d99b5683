// SPDX-License-Identifier: MIT OR Apache-2.0
import Dispatch

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
