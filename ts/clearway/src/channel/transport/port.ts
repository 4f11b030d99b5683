// SPDX-License-Identifier: MIT OR Apache-2.0
import { lifeline, refuseDetached } from "#host";
import { invalid, messageOf } from "../../error/clearway-error.js";
import { queueMicrotask } from "../../globals.js";
import { inMicrotask } from "../../lazy/lazy.js";
import type { ChannelRingPort, ChannelRingPortOwner } from "./channel-ring-port.js";
import {
  closePort,
  listenTo,
  loadRing,
  PeerThread,
  type PortEvents,
  type PortLike,
  type PortOptions,
} from "./port-like.js";
import {
  attachmentsOf,
  framesOf,
  garbled,
  movedBytesMin,
  none,
  PortWriter,
  Post,
  portMark,
  takesValues,
  wakeUp,
} from "./port-message.js";
import {
  appendValueFrame,
  type ChannelSink,
  type ChannelTransport,
  type CloseReason,
  checkFrame,
  closedHere,
  frameTooLarge,
  notCloneable,
  readReason,
  readValueFrames,
  SendWindow,
  type TransportLimits,
  type ValueFrame,
  windowBytesOf,
} from "./transport.js";

/**
 * Carries frames over a worker's port. Subclasses carry them over other ports. They override the properties, and how the transport
 * listens to the port and closes it.
 */
export class PortChannelTransport implements ChannelTransport {
  readonly name: string = "port";
  readonly trusted: boolean = true;
  readonly moves: boolean = true;
  readonly shares: boolean = typeof SharedArrayBuffer === "function";
  readonly frameBytesMax: number;
  readonly #port: PortLike;
  readonly #out: SendWindow;
  #sink: ChannelSink | undefined;
  #stop = (): void => {};
  peerClones = false;
  /** Small frames of this tick, which are not posted yet. */
  #waiting: Uint8Array[] = [];
  /** Frames with values of this tick, in the slots of a message. At most one of the two lists has frames. */
  #values: unknown[] = [];
  readonly #writer = new PortWriter(() => this.#flush());
  /** Whether this tick ends with a flush. */
  #scheduled = false;
  /** Whether the sink handles frames. What it sends meanwhile leaves when it has handled all frames of the message. */
  #delivering = false;
  /** Bytes that this end took since its last report to the other end. */
  #taken = 0;
  #reason: CloseReason | undefined;
  #messageSeen = false;
  readonly #ring: "offer" | "accept" | undefined;
  #ringPort: ChannelRingPort | undefined;
  readonly #thread = new PeerThread();
  /** Messages that arrive while the ring's code is loading. */
  #held: unknown[][] | undefined;

  constructor(port: PortLike, { frameBytesMax, windowBytes, ring }: PortOptions & Required<TransportLimits>) {
    this.#port = port;
    this.#ring = ring;
    this.frameBytesMax = frameBytesMax;
    this.#out = new SendWindow(windowBytes);
  }

  // A ring carries small frames of bytes faster than the port carries values. The values of an end that is not trusted cannot be bounded
  // before they take memory.
  get clones(): "preferred" | "possible" | undefined {
    return this.#ring === undefined && this.trusted ? "preferred" : "possible";
  }

  open(sink: ChannelSink): void {
    if (this.#sink !== undefined) throw invalid("sink", "given once", "open() was called before");
    this.#sink = sink;
    this.#writer.announces = sink.value !== undefined;
    if (this.#reason !== undefined) return this.#reportClosed(this.#reason);
    this.#stop = this.listen(this.#port, {
      message: (message) => this.#receive(message),
      unreadable: () => this.close({ code: "failed", message: "a message could not be read on arrival" }),
      gone: (detail, thrown) => this.#gone("the other side of the port is gone", detail, thrown),
      // A worker that has sent no message has failed to start. It may survive a later error.
      error: (cause) => this.#messageSeen || this.#end({ code: "failed", message: "the worker failed", cause }),
    });
    void lifeline()?.then((own) => this.#closed || this.#post([portMark, Post.lifeline, own], []));
    if (this.#ring === "offer" && this.shares) void this.#openRing(undefined);
  }

  /** Listens to the port. Returns a function that stops listening. */
  protected listen(port: PortLike, events: PortEvents): () => void {
    return listenTo(port, events);
  }

  /** Closes the port when the transport has ended. */
  protected disconnect(port: PortLike): void {
    closePort(port);
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = none): boolean {
    checkFrame(frame, attachments, this);
    if (this.#closed) return false;
    if (this.#values.length > 0) this.#flush();
    if (this.#out.sent(windowBytesOf(frame, attachments))) this.#writer.asks = true;
    if (attachments.length > 0 || frame.byteLength >= movedBytesMin) {
      if (this.#waiting.length > 0 || this.#ringPort) this.#flush();
      this.#postFrames([frame], attachments);
    } else if (this.#waiting.length === 0 && this.#ringPort?.offer(frame, this.#writer.asks)) {
      this.#writer.asks = false;
      if (this.#ringPort.owesWake) this.#schedule();
    } else {
      this.#waiting.push(frame);
      this.#schedule();
    }
    return !this.#closed && this.#out.room;
  }

  sendValue(frame: ValueFrame, transfer?: readonly object[]): boolean {
    if (frame.bytes > this.frameBytesMax) throw frameTooLarge(frame.bytes, this.frameBytesMax);
    if (this.#closed) return false;
    if (this.#waiting.length > 0) this.#flush();
    const hadRoom = this.#out.room;
    if (this.#out.sent(frame.bytes + 8)) this.#writer.asks = true;
    if (transfer === undefined) {
      appendValueFrame(this.#values, frame);
      this.#schedule();
    } else this.#postValue(frame, transfer, hadRoom);
    return !this.#closed && this.#out.room;
  }

  // The value has a message of its own: structured clone may refuse the value, or run a getter that sends other frames.
  #postValue(frame: ValueFrame, transfer: readonly object[], hadRoom: boolean): void {
    if (this.#values.length > 0) this.#flush();
    const flat: unknown[] = [];
    appendValueFrame(flat, frame);
    const { asks, report } = this.#writer;
    const reported = report.bytes;
    try {
      transfer.forEach(refuseDetached);
      this.#postRaw(this.#writer.values(flat), transfer as ArrayBuffer[]);
    } catch (reason) {
      this.#writer.asks ||= asks;
      if (reported > 0) report.add(reported);
      this.#out.withdraw(frame.bytes + 8, hadRoom);
      throw notCloneable(reason);
    }
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
    if (!this.#delivering) inMicrotask(this.#endTick);
  }

  readonly #endTick = (): void => {
    this.#scheduled = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#closed) return;
    const frames = this.#waiting;
    const values = this.#values;
    const { report } = this.#writer;
    if (values.length > 0) {
      this.#values = [];
      this.#post(this.#writer.values(values), []);
    } else if (frames.length > 0) {
      this.#waiting = [];
      this.#postFrames(frames, none);
    } else if (report.bytes > 0) this.#post([portMark, Post.taken, report.take()], []);
    else this.#ringPort?.wake();
  }

  #postFrames(frames: readonly Uint8Array[], attachments: readonly Uint8Array[]): void {
    const transfer: ArrayBuffer[] = [];
    this.#post(this.#writer.frames(frames, attachments, this.moves, transfer), transfer);
  }

  #post(message: unknown[], transfer: ArrayBuffer[]): void {
    try {
      this.#postRaw(message, transfer);
    } catch (cause) {
      // Only for memory that cannot be transferred. Later frames must not arrive without this one.
      this.#end({ code: "failed", message: "the port refused a message", cause });
    }
  }

  #postRaw(message: unknown[], transfer: ArrayBuffer[]): void {
    if (this.#ringPort) this.#ringPort.post(message, transfer);
    else this.#port.postMessage(message, transfer as never[]);
  }

  #receive(message: unknown): void {
    if (!Array.isArray(message) || this.#closed) return;
    if (this.#held) this.#held.push(message);
    else if (this.#ringPort) this.#ringPort.receive(message);
    else this.#read(message);
  }

  #read(message: unknown[]): void {
    if (message[0] !== portMark || this.#closed) return;
    this.#messageSeen = true;
    // By index: destructuring an array runs its iterator, which takes longer than reading a small message.
    const post = message[1];
    const first = message[2];
    if (post === Post.values || post === Post.valuesAsking) {
      this.#readReport(message[3]);
      return this.#deliverValues(readValueFrames(first), post === Post.valuesAsking);
    }
    if (post === Post.frames || post === Post.framesAsking) {
      if (message[5] === takesValues && this.clones !== undefined) this.peerClones = true;
      if (message[6] !== undefined) this.#readReport(message[6]);
      return this.#deliver(framesOf(first, message[3]), attachmentsOf(message[4]), post === Post.framesAsking);
    }
    if (post === Post.close) return this.#end(readReason(first));
    if (post === Post.ring) return this.#accept(first);
    if (post === Post.opened) return;
    // An end that is not trusted could name a lock of the app.
    if (post === Post.lifeline) return this.trusted ? this.#watch(first) : undefined;
    return post === Post.taken ? this.#readReport(first) : this.close(garbled);
  }

  #readReport(taken: unknown): void {
    if (typeof taken !== "number") return this.close(garbled);
    if (taken > 0 && this.#out.taken(taken)) this.#sink?.drained();
  }

  #deliver(frames?: readonly Uint8Array[], attachments?: readonly Uint8Array[], asked = false): void {
    if (this.#closed) return;
    if (frames === undefined || attachments === undefined) return this.close(garbled);
    for (const frame of frames) this.#taken += windowBytesOf(frame, none);
    for (const { byteLength } of attachments) this.#taken += byteLength;
    this.#beginDelivery(asked);
    try {
      for (const [at, frame] of frames.entries()) {
        if (this.#refuses(frame.byteLength)) return;
        this.#sink?.frame(frame, at === frames.length - 1 ? attachments : none);
      }
    } finally {
      this.#endDelivery();
    }
  }

  #deliverValues(frames: readonly ValueFrame[] | undefined, asked: boolean): void {
    if (this.#closed) return;
    if (frames === undefined || this.#sink?.value === undefined) return this.close(garbled);
    for (const { bytes } of frames) this.#taken += bytes + 8;
    this.#beginDelivery(asked);
    try {
      for (const frame of frames) {
        if (this.#refuses(frame.bytes)) return;
        this.#sink.value(frame);
      }
    } finally {
      this.#endDelivery();
    }
  }

  /** Returns whether a frame must not be delivered, because this end has closed. Closes for a frame that is too large. */
  #refuses(bytes: number): boolean {
    if (!this.#closed && bytes > this.frameBytesMax)
      this.close({ code: "too-large", message: `a frame of ${bytes} bytes arrived` });
    return this.#closed;
  }

  #beginDelivery(asked: boolean): void {
    // Before the frames are delivered, so that the first reply takes the report along.
    if (asked) this.#reportTaken();
    // A ring delivers each frame separately.
    this.#delivering = this.#ringPort === undefined;
  }

  #endDelivery(): void {
    if (!this.#delivering) return;
    this.#delivering = false;
    if (this.#scheduled) this.#endTick();
  }

  #reportTaken(): void {
    const taken = this.#taken;
    this.#taken = 0;
    if (this.#ringPort?.credit(taken)) return this.#ringPort.owesWake ? this.#schedule() : undefined;
    if (!this.peerClones) return this.#post([portMark, Post.taken, taken], []);
    this.#writer.report.add(taken);
  }

  #watch(name: unknown): void {
    const gone = (): void => this.#gone("the worker at the other side of the port is gone");
    if (!this.#thread.watch(name, gone)) this.close(garbled);
  }

  #accept(memory: unknown): void {
    if (this.#ring !== "accept" || this.#ringPort || !this.shares || !(memory instanceof SharedArrayBuffer))
      return this.close({ code: "protocol", message: "the other end offered a ring, which was not asked for" });
    this.#held = [];
    void this.#openRing(memory);
  }

  // Opens a ring. `memory` is the ring that the other end offers. If it is undefined, this end offers its own.
  async #openRing(memory: SharedArrayBuffer | undefined): Promise<void> {
    let ring: typeof import("./channel-ring-port.js");
    try {
      ring = await loadRing();
    } catch (cause) {
      // The offering end can work without a ring. An accepting end must read the ring, because the other end writes to it.
      return memory ? this.close({ code: "failed", message: "the ring's code could not be loaded", cause }) : undefined;
    }
    if (this.#closed) return;
    this.#flush();
    const shared = memory ?? ring.ringMemory();
    try {
      const side = memory ? "worker" : "caller";
      this.#useRing(new ring.ChannelRingPort(shared, side, this.#ringPortOwner()), memory === undefined);
    } catch (cause) {
      this.close({
        code: "protocol",
        message: "the memory that the other end offered is no ring of this version",
        cause,
      });
    }
  }

  #useRing(ringPort: ChannelRingPort, offers: boolean): void {
    // Each later message of this end has a position in the ring. `Post.opened` means the same for the other end's messages.
    if (offers) this.#post([portMark, Post.ring, ringPort.memory], []);
    this.#ringPort = ringPort;
    if (!offers) this.#post([portMark, Post.opened], []);
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) ringPort.receive(message);
    // Reads the frames that were written before the other end could wake this one.
    ringPort.receive(wakeUp);
  }

  #ringPortOwner(): ChannelRingPortOwner {
    return {
      post: (message, transfer) => this.#port.postMessage(message, transfer as never[]),
      message: (message) => this.#read(message),
      frame: (frame, asks) => this.#deliver([frame], none, asks),
      taken: (bytes) => this.#readReport(bytes),
      broken: (message) => this.close({ code: "protocol", message }),
    };
  }

  // Reads the frames that the other side wrote to the ring before it ended.
  #gone(what: string, detail?: CloseReason["detail"], thrown?: Pick<CloseReason, "cause">): void {
    this.#ringPort?.drain();
    const message = thrown ? `${what}: ${messageOf(thrown.cause)}` : what;
    this.#end({ code: "lost", message, ...(detail && { detail }), ...thrown });
  }

  #end(reason: CloseReason): void {
    if (this.#closed) return;
    this.#reason = reason;
    this.#waiting = [];
    this.#values = [];
    this.#stop();
    this.#thread.stop();
    this.#ringPort?.close();
    this.disconnect(this.#port);
    this.#reportClosed(reason);
  }

  // Calls the sink in a microtask, because `#end` may run inside a `send`.
  #reportClosed(reason: CloseReason): void {
    const sink = this.#sink;
    if (sink !== undefined) queueMicrotask(() => sink.closed(reason));
  }

  get #closed(): boolean {
    return this.#reason !== undefined;
  }
}
