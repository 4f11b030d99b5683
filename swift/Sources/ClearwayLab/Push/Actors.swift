// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayTasks
import Foundation

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
