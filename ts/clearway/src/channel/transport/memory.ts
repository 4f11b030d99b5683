// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import { queueMicrotask, structuredClone } from "../../globals.js";
import {
  type ChannelSink,
  type ChannelTransport,
  type CloseReason,
  checkFrame,
  closedHere,
  isShared,
  SendWindow,
  type TransportLimits,
  transportOptions,
  windowBytesOf,
} from "./transport.js";

/**
 * Returns two connected transports in one thread, for tests and for parts of an app that may be separated later. Copies
 * nothing. It passes frames as they are. It moves attachments: the sender loses access to them, as with other transports.
 * Delivers in microtasks. Throws `invalid-argument`.
 */
export function memoryPair(limits: TransportLimits = {}): [ChannelTransport, ChannelTransport] {
  const settings = transportOptions(limits);
  const a = new MemoryTransport(settings);
  const b = new MemoryTransport(settings);
  a.other = b;
  b.other = a;
  return [a, b];
}

interface QueuedFrame {
  readonly frame: Uint8Array;
  readonly attachments: readonly Uint8Array[];
}

class MemoryTransport implements ChannelTransport {
  readonly name = "memory";
  readonly trusted = true;
  readonly moves = true;
  readonly shares = true;
  readonly frameBytesMax: number;
  /** The other end. */
  other: MemoryTransport | undefined;
  readonly #window: SendWindow;
  #sink: ChannelSink | undefined;
  /** Frames that wait for this end. `#end` is delivered after them. */
  #inbox: QueuedFrame[] = [];
  #end: CloseReason | undefined;
  #closing = false;
  #closedReported = false;
  #scheduled = false;
  #drained = false;
  #paused = false;

  constructor({ frameBytesMax, windowBytes }: Required<TransportLimits>) {
    this.frameBytesMax = frameBytesMax;
    this.#window = new SendWindow(windowBytes);
  }

  open(sink: ChannelSink): void {
    if (this.#sink !== undefined) throw invalid("sink", "given once", "open() was called before");
    this.#sink = sink;
    this.#wake();
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = []): boolean {
    checkFrame(frame, attachments, this);
    if (this.#closing || this.#end !== undefined) return false;
    const bytes = windowBytesOf(frame, attachments);
    const moved = attachments.map((each) => (isShared(each.buffer) ? each : moveBytes(each)));
    this.other?.receive({ frame, attachments: moved });
    this.#window.sent(bytes);
    return this.#window.room;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#wake();
  }

  close(reason: CloseReason = closedHere): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#inbox = [];
    const { code, message, detail } = reason;
    this.other?.end(detail === undefined ? { code, message } : { code, message, detail });
    this.end(reason);
  }

  receive(queued: QueuedFrame): void {
    this.#inbox.push(queued);
    this.#wake();
  }

  end(reason: CloseReason): void {
    this.#end ??= reason;
    this.#wake();
  }

  taken(bytes: number): void {
    if (!this.#window.taken(bytes)) return;
    this.#drained = true;
    this.#wake();
  }

  #wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#closedReported) return;
    if (this.#drained && this.#end === undefined) {
      this.#drained = false;
      sink.drained();
    }
    // Frames that arrive during this loop are delivered in the next microtask, after the earlier frames.
    const inbox = this.#inbox.splice(0);
    for (const [index, { frame, attachments }] of inbox.entries()) {
      if (this.#closing) break;
      if (this.#paused) {
        this.#inbox = [...inbox.slice(index), ...this.#inbox];
        break;
      }
      this.other?.taken(windowBytesOf(frame, attachments));
      sink.frame(frame, attachments);
    }
    // Frames that were sent before the other end closed are delivered first. A pause ends here, because there is no sender to
    // slow down.
    if (this.#end !== undefined && this.#paused && !this.#closing) this.resume();
    if (this.#end === undefined || this.#inbox.length > 0 || this.#closedReported) return;
    this.#closedReported = true;
    sink.closed(this.#end);
  }
}

function moveBytes({ buffer }: Uint8Array): Uint8Array {
  return new Uint8Array(structuredClone(buffer as ArrayBuffer, { transfer: [buffer as ArrayBuffer] }));
}
