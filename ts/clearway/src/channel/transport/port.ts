// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import { checkFrame, isShared, type TransportLimits, transportLimits } from "./limits.js";
import { closePort, listenTo, type PortLike } from "./port-like.js";
import { attachmentsOf, framesOf, none, Post, padded, portMark } from "./port-message.js";
import { type ChannelSink, type ChannelTransport, type CloseReason, closedHere, readReason } from "./transport.js";
import { SendWindow, weight } from "./window.js";

// From here on a frame is posted by itself and moved; smaller ones of a tick are joined and cloned. A round trip in Node 20
// takes as long either way up to 4 KiB (43 us cloned, 41 moved), and at 64 KiB 51 against 39 (bench/channel-port.mjs).
const movedBytesMin = 4096;

/**
 * Channels over a worker's wire. Frames of one tick travel as one message; attachments are moved, shared memory is shared.
 * Does not own a worker: `close` leaves it running. It closes a `MessagePort`. Keeps a Node process alive for as long as it is
 * open, as any port does that is listened to. Throws `invalid-argument`.
 */
export function portTransport(port: PortLike, limits: TransportLimits = {}): ChannelTransport {
  if (typeof port?.postMessage !== "function") throw invalid("port", "a MessagePort or a worker", port);
  return new PortChannelTransport(port, transportLimits(limits));
}

class PortChannelTransport implements ChannelTransport {
  readonly name = "port";
  readonly moves = true;
  readonly shares = typeof SharedArrayBuffer === "function";
  readonly frameBytesMax: number;
  readonly #port: PortLike;
  readonly #out: SendWindow;
  #sink: ChannelSink | undefined;
  #stop = (): void => {};
  /** Small frames of this tick. */
  #waiting: Uint8Array[] = [];
  #scheduled = false;
  /** The next message asks what was taken there. */
  #asks = false;
  /** Bytes taken here since the other end was told. */
  #taken = 0;
  #reason: CloseReason | undefined;
  #heard = false;

  constructor(port: PortLike, { frameBytesMax, windowBytes }: Required<TransportLimits>) {
    this.#port = port;
    this.frameBytesMax = frameBytesMax;
    this.#out = new SendWindow(windowBytes);
  }

  open(sink: ChannelSink): void {
    if (this.#sink !== undefined) throw invalid("sink", "given once", "open() was called before");
    this.#sink = sink;
    if (this.#reason !== undefined) return this.#tell(this.#reason);
    this.#stop = listenTo(this.#port, {
      message: (message) => this.#receive(message),
      unreadable: () => this.#fail({ code: "failed", message: "a message could not be read on arrival" }),
      gone: (detail) => this.#end({ code: "lost", message: "the other side of the port is gone", detail }),
      error: (cause) => {
        // Before its first word, an error says that it does not start; later, a worker may live on.
        if (!this.#heard) this.#end({ code: "failed", message: "the worker failed", cause });
      },
    });
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = none): boolean {
    checkFrame(frame, attachments, this);
    if (this.#closed) return false;
    if (this.#out.sent(weight(frame, attachments))) this.#asks = true;
    if (attachments.length > 0 || frame.byteLength >= movedBytesMin) {
      this.#flush();
      this.#postFrames([frame.byteLength], frame, attachments);
    } else {
      this.#waiting.push(frame);
      this.#schedule();
    }
    return !this.#closed && this.#out.room;
  }

  close(reason: CloseReason = closedHere): void {
    if (this.#closed) return;
    this.#flush();
    const { code, message, detail } = reason;
    this.#post([portMark, Post.close, { code, message, detail }], []);
    this.#end(reason);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const frames = this.#waiting;
    const [only] = frames;
    if (only === undefined || this.#closed) return;
    this.#waiting = [];
    // A view would take the whole of its buffer along.
    if (frames.length === 1) return this.#postFrames([only.byteLength], alone(only) ? only : only.slice(), none);
    const bytes = new Uint8Array(frames.reduce((sum, { byteLength }) => sum + padded(byteLength), 0));
    let at = 0;
    for (const frame of frames) {
      bytes.set(frame, at);
      at += padded(frame.byteLength);
    }
    this.#postFrames(
      frames.map(({ byteLength }) => byteLength),
      bytes,
      none,
    );
  }

  #postFrames(lengths: number[], frame: Uint8Array, attachments: readonly Uint8Array[]): void {
    const large = frame.byteLength >= movedBytesMin;
    const bytes = large && (!alone(frame) || isShared(frame.buffer)) ? frame.slice() : frame;
    const transfer = attachments.flatMap(({ buffer }) => (isShared(buffer) ? [] : [buffer]));
    if (large) transfer.push(bytes.buffer as ArrayBuffer);
    const message: unknown[] = [portMark, this.#asks ? Post.framesAsking : Post.frames, lengths, bytes];
    this.#asks = false;
    if (attachments.length > 0) message.push(attachments);
    this.#post(message, transfer);
  }

  #post(message: unknown[], transfer: ArrayBuffer[]): void {
    try {
      this.#port.postMessage(message, transfer as never[]);
    } catch (cause) {
      // Nothing of ours is refused but memory that its owner keeps; the frame cannot arrive, and order would break.
      this.#end({ code: "failed", message: "the port refused a message", cause });
    }
  }

  #receive(message: unknown): void {
    if (!Array.isArray(message) || message[0] !== portMark || this.#closed) return;
    this.#heard = true;
    const [, post, first, second, third] = message as unknown[];
    if (post === Post.frames || post === Post.framesAsking) {
      this.#deliver(framesOf(first, second), attachmentsOf(third));
      if (post === Post.framesAsking && !this.#closed) this.#tellTaken();
      return;
    }
    if (post === Post.close) return this.#end(readReason(first));
    if (post !== Post.taken || typeof first !== "number") return this.#fail(garbled);
    if (this.#out.taken(first)) this.#sink?.drained();
  }

  #deliver(frames: readonly Uint8Array[] | undefined, attachments: readonly Uint8Array[] | undefined): void {
    if (frames === undefined || attachments === undefined) return this.#fail(garbled);
    for (const [index, frame] of frames.entries()) {
      if (this.#closed) return;
      if (frame.byteLength > this.frameBytesMax)
        return this.#fail({ code: "too-large", message: `a frame of ${frame.byteLength} bytes arrived` });
      const own = index === frames.length - 1 ? attachments : none;
      this.#taken += weight(frame, own);
      this.#sink?.frame(frame, own);
    }
  }

  #tellTaken(): void {
    const taken = this.#taken;
    this.#taken = 0;
    this.#post([portMark, Post.taken, taken], []);
  }

  // The other end did wrong: it is told, and this is the end.
  #fail(reason: CloseReason): void {
    this.close(reason);
  }

  #end(reason: CloseReason): void {
    if (this.#closed) return;
    this.#reason = reason;
    this.#waiting = [];
    this.#stop();
    closePort(this.#port);
    this.#tell(reason);
  }

  // Never from within: this may be in the midst of a `send`.
  #tell(reason: CloseReason): void {
    const sink = this.#sink;
    if (sink !== undefined) queueMicrotask(() => sink.closed(reason));
  }

  get #closed(): boolean {
    return this.#reason !== undefined;
  }
}

const garbled: CloseReason = { code: "protocol", message: "a message that is not of this protocol" };

function alone({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength === byteLength;
}
