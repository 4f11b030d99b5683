// SPDX-License-Identifier: MIT OR Apache-2.0
import Dispatch

/// Serial queues of Dispatch.
let queueKinds: [PushKind] = [
  PushKind("dispatch-queue") { receiver in
    .calls(Queueing(on: DispatchQueue(label: "receiver"), to: receiver))
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
