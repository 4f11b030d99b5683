// SPDX-License-Identifier: MIT OR Apache-2.0
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
          $0.receive(on: DispatchQueue(label: "receiver")).sink { receiver.receive($0) }
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
