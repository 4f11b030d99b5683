// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ChannelSink, ChannelTransport, CloseReason } from "../../src/channel/transport/transport.js";
import { closedHere } from "../../src/channel/transport/transport.js";

// Lets a test use an end that is in another thread: a frame, a shared worker or a service worker. A BroadcastChannel, or a port, carries
// the calls and the events. The channel under test carries the frames.

export type Control = BroadcastChannel | MessagePort;

type Command =
  | ["open"]
  | ["send", Uint8Array, readonly Uint8Array[]]
  | ["close", CloseReason]
  // Ends the thread without closing the transport.
  | ["kill"];
type News = ["up"] | ["frame", Uint8Array, readonly Uint8Array[]] | ["drained"] | ["closed", CloseReason];

/** Runs in the other thread: does with a transport what the test asks for, and reports what its sink receives. */
export function obey(control: Control, transport: ChannelTransport, kill: () => void = () => {}): void {
  const tell = (news: News): void => control.postMessage(news);
  const acts = {
    open: () =>
      transport.open({
        frame: (frame, attachments) => tell(["frame", frame, attachments]),
        drained: () => tell(["drained"]),
        closed: ({ code, message, detail }) => tell(["closed", { code, message, ...(detail && { detail }) }]),
      }),
    send: (frame: Uint8Array, attachments: readonly Uint8Array[]) => void transport.send(frame, attachments),
    close: (reason: CloseReason) => transport.close(reason),
    kill,
  };
  control.onmessage = ({ data: [act, ...given] }: MessageEvent<Command>) => {
    (acts[act] as (...given: unknown[]) => void)(...given);
  };
  tell(["up"]);
}

/** The end of the other thread, in the test's thread. Commands wait until the other thread has its transport. */
export class RemoteEnd implements ChannelTransport {
  readonly name = "remote";
  readonly moves = true;
  readonly shares = false;
  #control: Control | undefined;
  #isUp = false;
  #waiting: Command[] = [];
  #sink: ChannelSink | undefined;
  #closedHere = false;
  #over = false;

  constructor(readonly frameBytesMax: number) {}

  use(control: Control): this {
    this.#control = control;
    control.onmessage = ({ data }: MessageEvent<News>) => {
      if (data[0] !== "up") return this.#heard(data);
      this.#isUp = true;
      for (const command of this.#waiting.splice(0)) control.postMessage(command);
    };
    return this;
  }

  #heard(news: News): void {
    if (news[0] === "closed") {
      this.#over = true;
      this.#sink?.closed(news[1]);
    } else if (news[0] === "drained") this.#sink?.drained();
    else if (news[0] === "frame" && !this.#closedHere) this.#sink?.frame(news[1], news[2]);
  }

  #order(command: Command): void {
    if (this.#isUp) this.#control?.postMessage(command);
    else this.#waiting.push(command);
  }

  open(sink: ChannelSink): void {
    this.#sink = sink;
    this.#order(["open"]);
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = []): boolean {
    this.#order(["send", frame, attachments]);
    return !this.#over;
  }

  close(reason: CloseReason = closedHere): void {
    this.#closedHere = true;
    this.#order(["close", reason]);
  }

  kill(): void {
    this.#order(["kill"]);
  }

  dispose(): void {
    this.#control?.close();
  }
}
