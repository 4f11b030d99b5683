// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import type { ChannelTransport } from "../../../src/channel/transport/transport.js";
import { Op, readFrame } from "../../../src/channel/wire/frame.js";

/** Size in bytes of an answer of the method `large`. */
export const largeBytes = 10_000;

/** An app that serves every peer, and counts the work it does for them. */
export class Victim {
  /** Handlers that run now, handlers that ever started, and sources that were opened and have not ended. */
  running = 0;
  ran = 0;
  sources = 0;
  /** Values that sources gave, events that left, and the most that left in a row while their transport had no room. */
  given = 0;
  sent = 0;
  overrun = 0;
  /** Whether a transport ever had no room. */
  full = false;
  /** One per connection, in order of arrival, without those refused at the hello. */
  readonly ends: Endpoint[] = [];
  readonly transports: ChannelTransport[] = [];
  /** The errors with which `connect` rejected. */
  readonly refused: unknown[] = [];
  #open = 0;
  #waiting: (() => void)[] = [];

  constructor(readonly options: EndpointOptions) {}

  /** Returns what remains of all peers. */
  get left() {
    const { running, sources } = this;
    const sums = {
      connections: this.#open,
      running,
      sources,
      calls: 0,
      handling: 0,
      listening: 0,
      serving: 0,
      waitingBytes: 0,
    };
    for (const end of this.ends) {
      const stats = end.stats();
      for (const name of ["calls", "handling", "listening", "serving", "waitingBytes"] as const)
        sums[name] += stats[name];
    }
    return sums;
  }

  /** Lets the pending handlers of `held` finish. */
  release(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  readonly serve = async (transport: ChannelTransport): Promise<void> => {
    this.#open++;
    this.transports.push(transport);
    this.#watch(transport);
    try {
      const end = await connect(transport, { onError: () => {}, ...this.options });
      this.ends.push(end);
      this.#handle(end);
      await end.closed;
    } catch (error) {
      this.refused.push(error);
    } finally {
      this.#open--;
    }
  };

  /** Counts the events that leave by a transport. */
  #watch(transport: ChannelTransport): void {
    const send = transport.send.bind(transport);
    const open = transport.open.bind(transport);
    let room = true;
    let inRow = 0;
    transport.send = (frame, attachments) => {
      if (readFrame(frame, [])?.op === Op.event) {
        this.sent++;
        inRow = room ? 0 : inRow + 1;
        this.overrun = Math.max(this.overrun, inRow);
      }
      room = send(frame, attachments);
      this.full ||= !room;
      return room;
    };
    transport.open = (sink) =>
      open({
        frame: (frame, attachments) => sink.frame(frame, attachments),
        drained: () => {
          room = true;
          sink.drained();
        },
        closed: (reason) => sink.closed(reason),
      });
  }

  #handle(end: Endpoint): void {
    const count = async (work: () => unknown): Promise<unknown> => {
      this.ran++;
      this.running++;
      try {
        return await work();
      } finally {
        this.running--;
      }
    };
    end.messages("echo").handle((value) => count(() => value));
    end.messages("large").handle(() => count(() => new Uint8Array(largeBytes)));
    end.messages("held").handle(() => count(() => new Promise<void>((resolve) => this.#waiting.push(resolve))));
    const app = this;
    end.events("numbers").serve(function* () {
      app.sources++;
      try {
        for (let number = 0; ; number++) {
          app.given++;
          yield number;
        }
      } finally {
        app.sources--;
      }
    });
  }
}
