// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { Endpoint } from "../../host/host.js";
import type { FastPath } from "../fast-path.js";
import { isFrames, Op } from "../protocol.js";
import { Decoder } from "./decode.js";
import { Encoder } from "./encode.js";
import { at, headerBytes, magic, version } from "./layout.js";
import { type Place, ReceiveRing, SendRing } from "./ring.js";

/** Receives what a ring reads. */
export interface RingPortOwner {
  /** A message of the port, in its place among the frames. */
  message(frames: unknown[]): void;
  /** A frame of the ring. */
  frame(op: Op, id: number, a: unknown, b: unknown): void;
  /** The ring's frames have been delivered one by one; no more are there for now. */
  drained(): void;
  /** The other side broke the layout. The ring reads nothing more. */
  broken(error: ClearwayError): void;
  /** Counts bytes of binary memory that arrived in a result or a stream's value. */
  copied(bytes: number): void;
}

// Frames are encoded one after the other, so one encoder serves every ring of this thread.
const encoder = new Encoder();

/**
 * A pair of rings next to a port, with one order for both (`spec/ring.md`, "Order"):
 *
 * - A message of the port has a number, which it carries first. The ring carries a mark with that number behind the frames sent before
 *   the message.
 * - The receiver reads the ring up to the mark, then the message, then the ring behind the mark. Everything in the ring before the mark
 *   was published before the message was posted, so it is there when the message arrives.
 * - A mark that finds no room is written before the next frame. Until then every frame goes by port.
 *
 * No side sleeps while a frame waits. The receiver stores `parked`, then loads the tail. The sender stores the tail, then loads `parked`.
 * All four are sequentially consistent, so they have one total order. If the tail's store comes before its load in that order, the
 * receiver sees the frame and does not sleep. Otherwise the store of `parked` comes before the tail's store, and therefore before the
 * sender's load of `parked`: the sender sees it and posts a wake-up. `test/transport/ring/model.node.test.ts` checks every interleaving.
 */
export class RingPort implements FastPath {
  /** Stopped at a mark, whose message is in flight and will wake this side. */
  blocked = false;
  owesWake = false;
  protected readonly words: Int32Array;
  readonly #endpoint: Endpoint;
  readonly #owner: RingPortOwner;
  readonly #send: SendRing;
  readonly #receive: ReceiveRing;
  readonly #decoder: Decoder;
  readonly #parkedHere: number;
  readonly #parkedThere: number;
  #posted = 0;
  #read = 0;
  /** Messages that could not be deserialized; their numbers are unknown. */
  #unread = 0;
  #markDue = false;
  #draining = false;
  /** Number of delivered frames; it may wrap. */
  #told = 0;
  #broken = false;

  constructor(memory: SharedArrayBuffer, side: "caller" | "worker", endpoint: Endpoint, owner: RingPortOwner) {
    const words = new Int32Array(memory);
    const capacity = words[at.capacity]!;
    const sound =
      words[at.magic] === magic &&
      words[at.version] === version &&
      capacity > 0 &&
      (capacity & (capacity - 1)) === 0 &&
      words.byteLength === headerBytes + 2 * capacity;
    if (!sound) throw new ClearwayError("protocol", `not a ring of version ${version}: capacity=${capacity}`);
    const toWorker: Place = { ...at.toWorker, data: headerBytes / 4, capacity: capacity / 4 };
    const toCaller: Place = { ...at.toCaller, data: (headerBytes + capacity) / 4, capacity: capacity / 4 };
    const [send, receive] = side === "caller" ? [toWorker, toCaller] : [toCaller, toWorker];
    this.words = words;
    this.#endpoint = endpoint;
    this.#owner = owner;
    this.#send = new SendRing(words, send);
    this.#receive = new ReceiveRing(words, receive);
    this.#decoder = new Decoder(this.#receive.frame);
    this.#parkedHere = (side === "caller" ? at.toCaller : at.toWorker).parked;
    this.#parkedThere = (side === "caller" ? at.toWorker : at.toCaller).parked;
  }

  send(op: Op, id: number, a: unknown, b: unknown): boolean {
    // A sleeper needs a message in any case. That message then carries the frame too, and all later frames of its tick. After a pause of
    // 2 ms, a call by ring and wake-up took 1.3 times as long. The load is only a hint, without a pair: the order holds whatever it
    // returns.
    if (Atomics.load(this.words, this.#parkedThere) === 1) return false;
    if (this.#broken || (this.#markDue && !this.#mark())) return false;
    const count = encoder.frame(op, id, a, b, true);
    return count > 0 && this.#write(count);
  }

  /** Bytes of binary memory in the frame sent last. */
  get binaryBytes(): number {
    return encoder.binaryBytes;
  }

  wake(): void {
    if (!this.owesWake) return;
    this.owesWake = false;
    // Acquire and release: pairs with the store in `park`. The side that clears the word posts, so there is only one wake-up.
    if (Atomics.compareExchange(this.words, this.#parkedThere, 1, 0) === 1) this.#endpoint.post(wakeUp, none);
  }

  /** Posts frames by port, with their place in the order. Throws what the port throws; then nothing has left. */
  post(message: unknown, transfer: readonly object[]): void {
    // The message will wake the other side, which may sleep again before the next line here runs. Clearing the word afterwards would hide
    // that second sleep. The word is therefore cleared first, and restored when the post fails. Pairs with `park`.
    const slept = Atomics.compareExchange(this.words, this.#parkedThere, 1, 0) === 1;
    try {
      this.#endpoint.post([Op.Mark, this.#posted + 1, undefined, undefined, ...(message as unknown[])], transfer);
    } catch (reason) {
      if (slept) Atomics.store(this.words, this.#parkedThere, 1);
      throw reason;
    }
    this.#posted++;
    // At once: a receiver that polls the ring has to turn to its port.
    this.#mark();
    // The message wakes the other side for all earlier frames. A mark alone is no reason to wake it again.
    this.owesWake = false;
  }

  /** Handles a message that arrived by port. */
  receive(message: unknown): void {
    if (!isFrames(message) || message[0] !== Op.Mark) return this.#owner.message(message as unknown[]);
    const number = message[1] as number;
    this.drain();
    if (number === 0) return;
    // Lost messages came before this one.
    for (; this.#unread > 0 && number > this.#read + 1; this.#unread--) {
      this.#read++;
      this.blocked = false;
      this.drain();
    }
    if (number !== this.#read + 1)
      return this.#break(new ClearwayError("protocol", `message ${number} is out of order`));
    this.#read = number;
    this.blocked = false;
    this.#owner.message(message);
    // Reads on behind the mark, if it is there already. Unread frames would keep this side from sleeping.
    this.drain();
  }

  /**
   * Notes that a message of the port could not be deserialized. The next message shows whether it had a number, and frees the ring behind
   * its mark.
   */
  lost(): void {
    this.#unread++;
  }

  /** Whether a published frame is unread. */
  get waiting(): boolean {
    return this.#receive.waiting;
  }

  /** Whether this side's worker may spin. The caller sets this and may change it; pairs with the store in `CallerRingPort.allow`. */
  get maySpin(): boolean {
    return Atomics.load(this.words, at.spin) === 1;
  }

  /** Reads the frames in the ring, up to a mark whose message is still in flight. Returns whether there were any. */
  drain(): boolean {
    if (this.#draining || this.#broken) return false;
    this.#draining = true;
    const before = this.#told;
    let error: ClearwayError | undefined;
    try {
      this.#take();
    } catch (reason) {
      error = reason as ClearwayError;
    }
    // Frames before a broken one have been delivered.
    const some = this.#told !== before;
    try {
      if (some) this.#owner.drained();
    } catch (reason) {
      uncaught(reason);
    }
    this.#draining = false;
    if (error !== undefined) this.#break(error);
    return some;
  }

  /**
   * Asks to be woken. Returns false, without asking, when a frame arrived meanwhile. A ring that is stopped at a mark needs no request:
   * the mark's message wakes it.
   */
  park(): boolean {
    if (this.blocked || this.#broken) return true;
    // Sequentially consistent: pairs with the load in `#write` (see the proof above), and with the clearing in `wake`.
    Atomics.store(this.words, this.#parkedHere, 1);
    if (!this.waiting) return true;
    this.unpark();
    return false;
  }

  /** Clears the request to be woken: this side polls again. A wake-up that is already in flight does no harm. */
  unpark(): void {
    Atomics.store(this.words, this.#parkedHere, 0);
  }

  #take(): void {
    const ring = this.#receive;
    const decoder = this.#decoder;
    const { frame } = ring;
    ring.look();
    for (let count = ring.read(); count > 0; count = ring.read()) {
      const op: Op = frame[0]! & 0xff;
      if (op !== Op.Mark) {
        const id = frame[1]!;
        decoder.open(count);
        const a = decoder.value();
        const b = decoder.value();
        decoder.close();
        if (decoder.binaryBytes > 0 && isAnswer(op)) this.#owner.copied(decoder.binaryBytes);
        ring.take(count);
        this.#told = (this.#told + 1) | 0;
        // `frame` is not used after this line: the owner's callback may send, and make this side read again.
        try {
          this.#owner.frame(op, id, a, b);
        } catch (reason) {
          uncaught(reason);
        }
        continue;
      }
      if (((frame[1]! - this.#read) | 0) > 0) {
        this.blocked = true;
        break;
      }
      ring.take(count);
    }
    ring.release();
  }

  #mark(): boolean {
    this.#markDue = !this.#write(encoder.mark(this.#posted));
    return !this.#markDue;
  }

  #write(count: number): boolean {
    try {
      if (!this.#send.write(encoder.words, count)) return false;
    } catch (reason) {
      this.#break(reason as ClearwayError);
      return false;
    }
    this.#send.publish();
    // Sequentially consistent, after the store of the tail: pairs with the store in `park` (see the proof above).
    if (Atomics.load(this.words, this.#parkedThere) === 1) this.owesWake = true;
    return true;
  }

  #break(error: ClearwayError): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#owner.broken(error);
  }
}

// An owner's error becomes an uncaught error of its own, so that the frames behind are still delivered.
function uncaught(reason: unknown): void {
  queueMicrotask(() => {
    throw reason;
  });
}

const none: readonly object[] = [];
const wakeUp = [Op.Mark, 0, undefined, undefined];

function isAnswer(op: Op): boolean {
  return op === Op.Result || op === Op.Chunk;
}
