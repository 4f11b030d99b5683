// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { queueMicrotask } from "../../globals.js";
import type { Endpoint } from "../../host/host.js";
import type { FastPath } from "../port.js";
import { coded, isFrames, Op } from "../protocol.js";
import { Decoder } from "./decode.js";
import { Encoder } from "./encode.js";
import { at, headerBytes, magic, version } from "./layout.js";
import { ReceiveRing, type RingOffsets, SendRing } from "./ring.js";

/** Receives the frames and messages that a ring port reads from its ring and its port. */
export interface RingPortOwner {
  /** Receives a message of the port, in order with the ring's frames. */
  message(frames: unknown[]): void;
  /** Receives a frame of the ring. */
  frame(op: Op, id: number, a: unknown, b: unknown): void;
  /** Called after `frame` has received all frames that were in the ring. */
  drained(): void;
  /** Called when the other side has broken the layout. The ring reads nothing more. */
  broken(error: ClearwayError): void;
  /** Counts the bytes of binary memory in a received result or stream value. */
  copied(bytes: number): void;
}

// A thread encodes one frame at a time, so all its rings share one encoder.
const encoder = new Encoder();

/**
 * A pair of rings next to a port. Ring and port share one order (`spec/ring.md`, "Order"):
 *
 * - Each message of the port carries a number in its first frame. The sender writes a mark with the same number into the ring, after the
 *   frames that it sent before the message.
 * - The receiver reads the ring up to the mark, then the message, then the frames after the mark. The sender publishes the frames before
 *   the mark before it posts the message. These frames are therefore in the ring when the message arrives.
 * - If the ring has no room for a mark, the sender writes the mark before the next frame. Until then every frame is sent through the port.
 *
 * A side never sleeps while a frame waits for it. The receiver stores `parked`, then loads the tail. The sender stores the tail, then loads
 * `parked`. All four accesses are sequentially consistent, so they have one total order. There are two cases:
 *
 * - The sender stores the tail before the receiver loads it. Then the receiver sees the frame and does not sleep.
 * - The receiver loads the tail first. It has stored `parked` before that load, and the sender loads `parked` only after its store of the
 *   tail. Then the sender sees `parked` and posts a wake-up.
 *
 * `test/transport/ring/model.node.test.ts` checks every interleaving.
 */
export class RingPort implements FastPath {
  /** Whether this side has stopped at a mark. The mark's message is in flight and will wake this side. */
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
  #readNumber = 0;
  /** Number of messages that could not be deserialized and whose numbers are not yet known. */
  #lostCount = 0;
  #markDue = false;
  #draining = false;
  /** Number of frames delivered so far. May wrap. */
  #delivered = 0;
  #broken = false;

  constructor(memory: SharedArrayBuffer, side: "caller" | "worker", endpoint: Endpoint, owner: RingPortOwner) {
    const words = new Int32Array(memory);
    const capacity = words[at.capacity]!;
    const isValid =
      words[at.magic] === magic &&
      words[at.version] === version &&
      capacity > 0 &&
      (capacity & (capacity - 1)) === 0 &&
      words.byteLength === headerBytes + 2 * capacity;
    if (!isValid) throw new ClearwayError("protocol", `not a ring of version ${version}: capacity=${capacity}`);
    const toWorker: RingOffsets = { ...at.toWorker, data: headerBytes / 4, capacity: capacity / 4 };
    const toCaller: RingOffsets = { ...at.toCaller, data: (headerBytes + capacity) / 4, capacity: capacity / 4 };
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
    // A sleeping receiver needs a message anyway. That message then carries this frame and all later frames of the tick. After a pause of
    // 2 ms, a call by ring with a wake-up took 1.3 times as long as a call by port. The load has no pair: it is only a hint, and the order
    // of frames does not depend on its result.
    if (Atomics.load(this.words, this.#parkedThere) === 1) return false;
    if (this.#broken || (this.#markDue && !this.#mark())) return false;
    const count = encoder.frame(op, id, a, b, true);
    return count > 0 && this.#write(count);
  }

  /** Bytes of binary memory in the last frame that was sent. */
  get binaryBytes(): number {
    return encoder.binaryBytes;
  }

  wake(): void {
    if (!this.owesWake) return;
    this.owesWake = false;
    // Acquire and release: pairs with the store in `park`. Only the side that clears the word posts, so there is only one wake-up.
    if (Atomics.compareExchange(this.words, this.#parkedThere, 1, 0) === 1) this.#endpoint.post(wakeUp, none);
  }

  /** Posts frames by port, numbered and in order with the ring's frames. Throws the errors of the port; then it has sent nothing. */
  post(message: unknown, transfer: readonly object[]): void {
    // Clears the word before the post, because the message will wake the other side. The other side may sleep again before the next line
    // here runs. Clearing the word after the post would hide that second sleep. If the post fails, the word is restored. Pairs with the
    // store in `park`.
    const slept = Atomics.compareExchange(this.words, this.#parkedThere, 1, 0) === 1;
    try {
      this.#endpoint.post([Op.Mark, this.#posted + 1, undefined, undefined, ...(message as unknown[])], transfer);
    } catch (reason) {
      if (slept) Atomics.store(this.words, this.#parkedThere, 1);
      throw reason;
    }
    this.#posted++;
    // The mark goes out at once. The mark stops a receiver that polls the ring, so that its event loop can read the port.
    this.#mark();
    // This message also wakes the other side for all earlier frames. The mark alone needs no second wake-up.
    this.owesWake = false;
  }

  /** Handles a message that arrived by port. */
  receive(message: unknown): void {
    if (!isFrames(message) || message[0] !== Op.Mark) return this.#owner.message(message as unknown[]);
    const number = message[1] as number;
    this.drain();
    if (number === 0) return;
    // The missing numbers belong to lost messages, which were posted before this one. For each lost message, reads the frames that follow
    // its mark.
    for (; this.#lostCount > 0 && number > this.#readNumber + 1; this.#lostCount--) {
      this.#readNumber++;
      this.blocked = false;
      this.drain();
    }
    if (number !== this.#readNumber + 1)
      return this.#break(new ClearwayError("protocol", `message ${number} is out of order`));
    this.#readNumber = number;
    this.blocked = false;
    this.#owner.message(message);
    // Reads the frames after the mark, if the mark is already there. Unread frames would keep this side from parking.
    this.drain();
  }

  /**
   * Records that a message of the port could not be deserialized. The number of the next message shows whether the lost message had a
   * number. The ring then continues after the lost message's mark.
   */
  lost(): void {
    this.#lostCount++;
  }

  /** Whether the other side has published a frame that this side has not read. */
  get waiting(): boolean {
    return this.#receive.waiting;
  }

  /** Whether this worker may spin. The caller can change this at any time. The load pairs with the store in `CallerRingPort.allowSpin`. */
  get maySpin(): boolean {
    return Atomics.load(this.words, at.spin) === 1;
  }

  /** Delivers the frames in the ring, up to a mark whose message has not arrived. Returns whether it has delivered any frame. */
  drain(): boolean {
    if (this.#draining || this.#broken) return false;
    this.#draining = true;
    const before = this.#delivered;
    let error: ClearwayError | undefined;
    try {
      this.#deliverFrames();
    } catch (reason) {
      error = reason as ClearwayError;
    }
    // The frames before a broken frame have been delivered.
    const some = this.#delivered !== before;
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
   * Asks the other side to wake this side. Returns false, without asking, if a frame has arrived in the meantime.
   *
   * A ring that has stopped at a mark needs no request, because the mark's message wakes this side.
   */
  park(): boolean {
    if (this.blocked || this.#broken) return true;
    // Sequentially consistent: pairs with the load in `#write` (see the class comment) and with the compareExchange in `wake` and `post`.
    Atomics.store(this.words, this.#parkedHere, 1);
    if (!this.waiting) return true;
    this.unpark();
    return false;
  }

  /** Withdraws the request of `park`, because this side polls again. A wake-up that is already in flight does no harm. */
  unpark(): void {
    Atomics.store(this.words, this.#parkedHere, 0);
  }

  #deliverFrames(): void {
    const ring = this.#receive;
    const decoder = this.#decoder;
    const { frame } = ring;
    ring.loadTail();
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
        this.#delivered = (this.#delivered + 1) | 0;
        // The owner's callback may re-enter this port. The loop therefore does not use `frame` after the callback.
        try {
          this.#owner.frame(op, id, a, b);
        } catch (reason) {
          uncaught(reason);
        }
        continue;
      }
      if (((frame[1]! - this.#readNumber) | 0) > 0) {
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
    // Sequentially consistent, after the store of the tail: pairs with the store in `park` (see the class comment).
    if (Atomics.load(this.words, this.#parkedThere) === 1) this.owesWake = true;
    return true;
  }

  #break(error: ClearwayError): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#owner.broken(error);
  }
}

// Throws an owner's error in a microtask, as an uncaught error. The ring can then still deliver the remaining frames.
function uncaught(reason: unknown): void {
  queueMicrotask(() => {
    throw reason;
  });
}

const none: readonly object[] = [];
const wakeUp = [Op.Mark, 0, undefined, undefined];

function isAnswer(op: Op): boolean {
  const bare = op & ~coded;
  return bare === Op.Result || bare === Op.Chunk;
}
