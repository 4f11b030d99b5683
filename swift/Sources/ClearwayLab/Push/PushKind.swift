// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayTasks
import Dispatch
import Foundation
import Synchronization

/// What a mechanism promises about the events.
///
/// The runner checks it; the figures count the rest.
enum Promise: Sendable {
  /// Every event arrives, and none after a later one.
  case everyInOrder
  /// Every event arrives.
  case every
  /// Events arrive in order.
  ///
  /// Some may be dropped, and the sender learns it.
  case someInOrder
}

/// A mechanism that hands events over with one call.
protocol Sending: Sendable {
  func send(_ event: Event)

  /// Says that no event follows, and returns the number of dropped ones.
  ///
  /// Events may still be on their way.
  func finish() -> Int
}

extension Sending {
  func finish() -> Int { 0 }
}

/// A mechanism that is open for one run.
enum Opened: Sendable {
  /// The lab sends: from a thread in an open loop, from a task in a closed one.
  case calls(any Sending)
  /// The mechanism sends from a task of its own, and returns the number of dropped events.
  case task(@Sendable (Load) async -> Int)
}

/// A push mechanism, by its name in the scenario files.
struct PushKind: Sendable {
  let name: String
  var promise = Promise.everyInOrder

  /// Says why the mechanism cannot run here and what to do.
  ///
  /// It is `nil` if the mechanism can.
  var unavailable: String?
  let open: @Sendable (Receiver) -> Opened

  init(
    _ name: String, promise: Promise = .everyInOrder, unavailable: String? = nil,
    open: @escaping @Sendable (Receiver) -> Opened
  ) {
    self.name = name
    self.promise = promise
    self.unavailable = unavailable
    self.open = open
  }

  /// A mechanism that cannot run here.
  static func missing(_ name: String, _ why: String) -> PushKind {
    PushKind(name, unavailable: why) { _ in .task { _ in 0 } }
  }
}

/// The mechanisms of every load.
let pushKinds: [PushKind] =
  callKinds + combineKinds + queueKinds + actorKinds + streamKinds + mainKinds

/// Mechanisms without a change of threads.
///
/// They show the cost of the call itself.
let callKinds: [PushKind] = [
  PushKind("delegate") { receiver in .calls(Delegating(to: receiver)) },
  PushKind("delegate-nslock") { receiver in .calls(Locking(to: receiver)) },
  mutexKind,
]

/// A delegate as apps have it: a weak reference to a protocol.
///
/// The authors' is a strong one to a class.
protocol EventDelegate: AnyObject, Sendable {
  func didReceive(_ event: Event)
}

extension Receiver: EventDelegate {
  func didReceive(_ event: Event) { receive(event) }
}

/// Only the sender uses the weak reference.
private final class Delegating: Sending, @unchecked Sendable {
  private weak var delegate: (any EventDelegate)?

  init(to delegate: any EventDelegate) {
    self.delegate = delegate
  }

  func send(_ event: Event) { delegate?.didReceive(event) }
}

/// The lock is free at every call, which is the usual case of a stream.
private final class Locking: Sending, @unchecked Sendable {
  private let lock = NSLock()
  private weak var delegate: (any EventDelegate)?

  init(to delegate: any EventDelegate) {
    self.delegate = delegate
  }

  func send(_ event: Event) { lock.withLock { delegate?.didReceive(event) } }
}

private let mutexKind: PushKind = {
  if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
    return PushKind("delegate-mutex") { receiver in .calls(MutexLocking(to: receiver)) }
  }
  return .missing("delegate-mutex", "Synchronization.Mutex needs macOS 15, iOS 18 or newer")
}()

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class MutexLocking: Sending {
  private struct Weak: Sendable {
    weak var delegate: (any EventDelegate)?
  }

  private let delegate: Mutex<Weak>

  init(to delegate: any EventDelegate) {
    self.delegate = Mutex(Weak(delegate: delegate))
  }

  func send(_ event: Event) { delegate.withLock { $0.delegate?.didReceive(event) } }
}

/// Serial queues of Dispatch.
let queueKinds: [PushKind] = [
  PushKind("dispatch-queue") { receiver in
    .calls(
      Queueing(
        on: DispatchQueue(label: "receiver", target: .global(qos: .userInteractive)), to: receiver))
  }
]

/// The main queue and the main actor, where an app receives.
let mainKinds: [PushKind] = [
  PushKind("main-queue") { receiver in .calls(Queueing(on: .main, to: receiver)) },
  PushKind("main-actor-task", promise: .every) { receiver in .calls(MainTasks(to: receiver)) },
  PushKind("main-actor-stream") { receiver in
    .calls(
      StreamSending { stream in
        Task { @MainActor in
          for await event in stream { receiver.receive(event) }
          receiver.end()
        }
      })
  },
]

private struct Queueing: Sending {
  let queue: DispatchQueue
  let receiver: Receiver

  init(on queue: DispatchQueue, to receiver: Receiver) {
    self.queue = queue
    self.receiver = receiver
  }

  func send(_ event: Event) { queue.async { [receiver] in receiver.receive(event) } }
}

/// A task for each event.
///
/// The main actor receives.
private struct MainTasks: Sending {
  let receiver: Receiver

  init(to receiver: Receiver) {
    self.receiver = receiver
  }

  func send(_ event: Event) {
    Task { @MainActor [receiver] in receiver.receive(event) }
  }
}

/// Calls of an actor's method.
let actorKinds: [PushKind] = [
  PushKind("actor-task", promise: .every) { receiver in
    .calls(ActorTasks(to: ReceivingActor(receiver)))
  },
  PushKind("actor-mailbox") { receiver in .calls(Mailbox(to: ReceivingActor(receiver))) },
  PushKind("actor-await") { receiver in
    .task { load in await callEach(of: load, on: ReceivingActor(receiver)) }
  },
]

/// The actor that receives.
actor ReceivingActor {
  private let receiver: Receiver

  init(_ receiver: Receiver) {
    self.receiver = receiver
  }

  func receive(_ event: Event) { receiver.receive(event) }

  func receiveAll(_ stream: AsyncStream<Event>) async {
    for await event in stream { receiver.receive(event) }
    receiver.end()
  }

  func receiveAll(_ stream: CreditStream<Event>) async {
    // The sender ends the stream without an error.
    do {
      for try await event in stream { receiver.receive(event) }
    } catch {}
    receiver.end()
  }

  /// Receives what waits in a mailbox, until it is empty.
  func drain(_ mailbox: Mailbox) {
    while let events = mailbox.take() {
      for event in events { receiver.receive(event) }
    }
  }
}

/// Awaits the actor's method for each event, one after the other.
private func callEach(of load: Load, on actor: ReceivingActor) async -> Int {
  let pacer = Pacer(load)
  while let event = await pacer.next() { await actor.receive(event) }
  return 0
}

/// A task for each event.
///
/// Tasks may overtake each other before they reach the actor.
private struct ActorTasks: Sending {
  let actor: ReceivingActor

  init(to actor: ReceivingActor) {
    self.actor = actor
  }

  func send(_ event: Event) {
    Task { [actor] in await actor.receive(event) }
  }
}

/// An ordered mailbox: an array behind a lock, and one task at a time that makes the actor empty
/// it.
final class Mailbox: Sending, @unchecked Sendable {
  private let lock = NSLock()
  private let actor: ReceivingActor
  private var waiting: [Event] = []
  private var isDraining = false

  init(to actor: ReceivingActor) {
    self.actor = actor
  }

  func send(_ event: Event) {
    let isFirst = lock.withLock {
      waiting.append(event)
      defer { isDraining = true }
      return !isDraining
    }
    if isFirst { Task { await actor.drain(self) } }
  }

  /// Takes all waiting events.
  ///
  /// Returns `nil` if there is none; the next `send` then starts a new task.
  func take() -> [Event]? {
    lock.withLock {
      isDraining = !waiting.isEmpty
      guard isDraining else { return nil }
      defer { waiting = [] }
      return waiting
    }
  }
}

// Combine, where it exists. On Linux, its rows say why they are empty.

#if canImport(Combine)
  @preconcurrency import Combine
  import Dispatch

  let combineKinds: [PushKind] = [
    PushKind("combine-subject") { receiver in
      .calls(Publishing { $0.sink { receiver.receive($0) } })
    },
    PushKind("combine-queue") { receiver in
      .calls(
        Publishing {
          $0.receive(
            on: DispatchQueue(label: "receiver", target: .global(qos: .userInteractive))
          ).sink { receiver.receive($0) }
        })
    },
  ]

  private final class Publishing: Sending, @unchecked Sendable {
    private let subject = PassthroughSubject<Event, Never>()
    private let subscription: AnyCancellable

    init(subscribe: (PassthroughSubject<Event, Never>) -> AnyCancellable) {
      subscription = subscribe(subject)
    }

    func send(_ event: Event) { subject.send(event) }
  }
#else
  private let reason =
    "not on Linux: Combine is a framework of Apple's systems. Run the lab on macOS to measure it"

  let combineKinds: [PushKind] = [
    .missing("combine-subject", reason), .missing("combine-queue", reason),
  ]
#endif
