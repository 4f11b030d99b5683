// SPDX-License-Identifier: MIT OR Apache-2.0

import { checked, type Rules, wholeFrom } from "../../error/checked.js";
import { ClearwayError, caused, invalid, messageOf } from "../../error/clearway-error.js";

// A frame whose message is a value of structured clone (spec/channel.md, "Values by structured clone"). Ports post such frames in a
// flat array, one after the other. Each takes `slots` slots:
//
//   op, flags, id, a, b, c, name, method, value, bytes, copied, moved, shared

/** A frame with a value instead of bytes. The numbers have the meaning that they have in the frames of `wire/frame.ts`. */
export interface ValueFrame {
  readonly op: number;
  readonly flags: number;
  readonly id: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** The channel's name. Empty in frames without a name. */
  readonly name: string;
  /** The method of a call. */
  readonly method: string | undefined;
  readonly value: unknown;
  /** The size that the frame counts for windows, credit and `frameBytesMax`, in bytes: an estimate by its sender. */
  readonly bytes: number;
  /** Bytes of binary memory in the value that were copied, moved and shared. */
  readonly copied: number;
  readonly moved: number;
  readonly shared: number;
}

const slots = 13;
// The slots of the name, the method and the value. All others have numbers.
const nameAt = 6;
const methodAt = 7;
const valueAt = 8;
const bytesAt = 9;

/** Appends a frame to the flat array of a message. */
export function appendValueFrame(flat: unknown[], frame: ValueFrame): void {
  const { op, flags, id, a, b, c, name, method, value, bytes, copied, moved, shared } = frame;
  flat.push(op, flags, id, a, b, c, name, method, value, bytes, copied, moved, shared);
}

/**
 * Reads the frames of a message, which may be hostile. The values are not checked. Returns undefined if the message is not a list of
 * frames.
 */
export function readValueFrames(flat: unknown): ValueFrame[] | undefined {
  if (!Array.isArray(flat) || flat.length === 0 || flat.length % slots !== 0) return undefined;
  const frames: ValueFrame[] = [];
  for (let at = 0; at < flat.length; at += slots) {
    for (let slot = 0; slot < nameAt; slot++) if (!isUint32(flat[at + slot])) return undefined;
    for (let slot = bytesAt; slot < slots; slot++) if (!isUint32(flat[at + slot])) return undefined;
    const name = flat[at + nameAt];
    const method = flat[at + methodAt];
    if (typeof name !== "string" || (method !== undefined && typeof method !== "string")) return undefined;
    frames.push({
      op: flat[at],
      flags: flat[at + 1],
      id: flat[at + 2],
      a: flat[at + 3],
      b: flat[at + 4],
      c: flat[at + 5],
      name,
      method,
      value: flat[at + valueAt],
      bytes: flat[at + bytesAt],
      copied: flat[at + 10],
      moved: flat[at + 11],
      shared: flat[at + 12],
    });
  }
  return frames;
}

/** Returns the typed error for a value that structured clone refused, or whose getter threw. */
export function notCloneable(reason: unknown): ClearwayError {
  const message = `the value cannot cross by structured clone: ${messageOf(reason)}`;
  return caused("not-cloneable", message, reason);
}

function isUint32(value: unknown): boolean {
  return typeof value === "number" && value >>> 0 === value;
}

/**
 * Carries a channel's frames between two ends, without knowing their contents. The suite `test/channel/transports/contract.ts`
 * tests this contract with each transport:
 *
 * - **Order.** In each direction, every frame arrives whole and once. Frames arrive in the order in which they were sent.
 * - **Nothing before `open`.** Frames that arrive earlier wait in the transport, which applies its back-pressure.
 * - **No re-entry.** `open`, `send` and `close` never call the sink. The sink may call any of them.
 * - **Closed once.** The transport calls `closed` once, as its last call, whichever end has closed. Frames sent before `close()`
 *   still arrive.
 * - **Bounded.** The transport never sends a frame over `frameBytesMax`. If such a frame arrives, the transport closes with
 *   `too-large`. The transport itself allocates no memory for that frame.
 */
export interface ChannelTransport {
  /** The transport's kind, for messages and statistics. Examples: "memory", "port", "stdio". */
  readonly name: string;
  /** Maximum size of a frame in both directions, in bytes. */
  readonly frameBytesMax: number;
  /**
   * Whether the transport takes attachments: memory that it moves to the other end next to the frame. If false, the frame
   * itself contains the attachments' bytes.
   */
  readonly moves: boolean;
  /**
   * Whether an attachment may be a view of a SharedArrayBuffer. Both ends then share that memory. If true, `moves` is true too.
   */
  readonly shares: boolean;

  /**
   * Whether the other end is part of the same program, such as a worker or a child process. A trusted end receives a handler's
   * error in full, with stack, properties and causes. Other ends receive only the error's code and message. The endpoint's
   * `exposeErrors` overrides this property. Default: false.
   */
  readonly trusted?: boolean;

  /**
   * Whether the transport can carry values by structured clone, next to frames of bytes. "preferred": an endpoint uses that unless its
   * option `codec` says otherwise. "possible": only if its option says so. Undefined: the transport carries only bytes. Default: undefined.
   */
  readonly clones?: "preferred" | "possible" | undefined;
  /**
   * Whether the other end takes values. It is known when the first frame arrives. The transport itself tells the other end whether its
   * sink has the method `value`.
   */
  readonly peerClones?: boolean;

  /** Starts to deliver frames to the sink. The endpoint calls it once. A second call throws `invalid-argument`. */
  open(sink: ChannelSink): void;

  /**
   * Takes a frame and returns at once. Takes ownership of `frame`, even if `send` throws: no code may write to the frame's
   * memory any more, and the transport may move a frame that fills its buffer. Takes ownership of `attachments`. Each
   * attachment is either a view of a whole buffer, which the transport moves, or a view of shared memory. No buffer occurs
   * twice in the list.
   *
   * Returns true while there is room. Returns false if too many bytes wait to be sent. The transport has taken the frame in
   * this case too, and the sender must send no more until `drained` is called. A closed transport drops the frame and returns
   * false. Throws `too-large` for a frame over the limit, and `invalid-argument` for attachments that the transport cannot
   * carry. If `send` throws, nothing was sent or moved.
   */
  send(frame: Uint8Array, attachments?: readonly Uint8Array[]): boolean;

  /**
   * Takes a frame with a value, in order with the frames of `send`, and returns what `send` returns. May be called only if `peerClones` is
   * true.
   *
   * With `transfer`, clones the value before it returns, and moves the listed objects. Without it, no code may change the value any more.
   * The transport may then post the frame later, in one message with other frames of the tick.
   *
   * Throws `too-large` for a frame over the limit, and `not-cloneable` for a value that structured clone refuses. If it throws, nothing was
   * sent. It throws what a getter in the value throws.
   */
  sendValue?(frame: ValueFrame, transfer?: readonly object[]): boolean;

  /**
   * Stops delivery until `resume` is called. The sink still receives frames that were already read. Other frames wait in the
   * transport, which applies its back-pressure. The transport still calls `drained` and `closed`. Without this method, an
   * endpoint cannot slow down a peer that calls and never reads the answers, so it disconnects such a peer sooner.
   */
  pause?(): void;
  /** Continues delivery after `pause`. */
  resume?(): void;

  /**
   * Closes the transport after it has written all frames that were sent. The other end receives the reason if the transport can
   * send it. A second call is ignored. The transport drops frames that arrive from now on.
   */
  close(reason?: CloseReason): void;
}

/** Receives a transport's frames and events. Its methods must not throw. */
export interface ChannelSink {
  /**
   * Called when a frame has arrived. The sink owns the memory of the frame and of its attachments. The frame may share its
   * buffer with other frames. No two attachments share a buffer. Both ends use the buffer of an attachment in shared memory.
   */
  frame(frame: Uint8Array, attachments: readonly Uint8Array[]): void;
  /**
   * Called when a frame with a value has arrived. A sink without this method takes no values, and the transport tells the other end so. The
   * frame's fields have been checked; its value is whatever the other end sent.
   */
  value?(frame: ValueFrame): void;
  /** Called when there is room again, after a `send` that returned false. */
  drained(): void;
  /** Called when the transport has closed. The transport calls no method of the sink after this one. */
  closed(reason: CloseReason): void;
}

/** Why a transport closed. */
export interface CloseReason {
  readonly code: CloseCode;
  /** A description for developers. */
  readonly message: string;
  /** Details from the host or the protocol, such as an exit code, a signal, or a WebSocket's close code. */
  readonly detail?: Readonly<Record<string, string | number>>;
  /** The error that was thrown at this end. It is not sent to the other end. */
  readonly cause?: unknown;
}

/** The kinds of {@link CloseReason}. */
export type CloseCode =
  /** One of the two ends closed the transport. */
  | "closed"
  /** The other end disappeared without a reason. It exited, it was killed, or the connection broke. */
  | "lost"
  /** The other end broke the protocol. */
  | "protocol"
  /** A frame was over the limit. */
  | "too-large"
  /** The other end refused this one because of its origin, its token, or the number of connections. */
  | "refused"
  /** The other end did not answer in time. */
  | "timeout"
  /** The host or the transport itself failed. `cause` has the error, if there is one. */
  | "failed";

/** All codes, to validate a code that arrives. */
export const closeCodes: readonly CloseCode[] = [
  "closed",
  "lost",
  "protocol",
  "too-large",
  "refused",
  "timeout",
  "failed",
];

/** The reason of `close()` if the caller gives none. */
export const closedHere: CloseReason = { code: "closed", message: "closed" };

/** Reads a reason that the other end sent, which may be hostile. Cuts long texts. An invalid code or message becomes `closed`. */
export function readReason(given: unknown): CloseReason {
  const { code, message, detail } = (given ?? {}) as Partial<CloseReason>;
  return {
    code: closeCodes.find((each) => each === code) ?? "closed",
    message: typeof message === "string" ? message.slice(0, 1000) : "closed",
    ...(typeof detail === "object" && detail !== null && { detail: readDetail(detail) }),
  };
}

function readDetail(detail: object): Record<string, string | number> {
  const entries = Object.entries(detail).slice(0, 16);
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "string" || typeof value === "number"));
}

/**
 * Calls `close` when the user leaves this page. A browser does not report to the other end of a port that a page is gone. The page
 * therefore reports it itself. Returns a function that stops waiting. Does nothing in workers.
 */
export function onPageLeave(close: (reason: CloseReason) => void): () => void {
  if (typeof document === "undefined") return () => {};
  const leave = (): void => close({ code: "closed", message: "the page was left" });
  addEventListener("pagehide", leave);
  return () => removeEventListener("pagehide", leave);
}

/**
 * Passes a new connection to the app's function. If the function throws or rejects, closes the connection with `failed`, and passes the
 * error to `onError`, or to the console under `title`. Never throws or rejects.
 */
export async function accept<Details extends unknown[]>(
  title: string,
  onTransport: (transport: ChannelTransport, ...details: Details) => unknown,
  onError: ((error: unknown) => void) | undefined,
  transport: ChannelTransport,
  ...details: Details
): Promise<void> {
  try {
    await onTransport(transport, ...details);
  } catch (error) {
    transport.close({ code: "failed", message: "the worker could not serve this connection" });
    try {
      if (onError) onError(error);
      else console.error(`${title}:`, error);
    } catch (thrown) {
      console.error(`${title}, onError threw:`, thrown);
    }
  }
}

/** Memory limits of a transport. */
export interface TransportLimits {
  /** Maximum size of a frame in both directions, in bytes. Default: 64 MiB. A 4K image in RGBA takes 32 MiB. */
  readonly frameBytesMax?: number | undefined;
  /**
   * Number of bytes that may wait or be in flight before `send` returns false. Default: 1 MiB, like the default of a task's
   * streams. A single larger frame is still sent.
   */
  readonly windowBytes?: number | undefined;
}

const defaultFrameBytesMax = 64 << 20;
const defaultWindowBytes = 1 << 20;

/**
 * Memory that a message takes beside its bytes while it waits, in bytes: its object, its view of the memory and its place in a list. An empty
 * message of `ws` takes 130 bytes in Node 20. Every queue of another end's messages charges this for each message, and for each attachment.
 */
export const messageBytes = 128;

/** Rules for the options in {@link TransportLimits}. */
const limitRules: Rules = { frameBytesMax: (value) => wholeFrom(value, 1, 0x7fff_ffff), windowBytes: 1 };

/**
 * Checks the options of a transport and fills in the default limits. `rules` are for the options other than the limits. Throws
 * `invalid-argument`.
 */
export function transportOptions<Options extends TransportLimits>(
  given: Options,
  rules?: Rules,
  defaults?: object,
): Options & Required<TransportLimits> {
  const limits = { frameBytesMax: defaultFrameBytesMax, windowBytes: defaultWindowBytes };
  return checked(given, { ...limitRules, ...rules }, { ...limits, ...defaults }) as Options & Required<TransportLimits>;
}

/** Throws the errors of `send`: `too-large` for the frame, `invalid-argument` for attachments that the transport cannot move. */
export function checkFrame(
  frame: Uint8Array,
  attachments: readonly Uint8Array[],
  limits: { frameBytesMax: number; moves: boolean; shares: boolean },
): void {
  if (frame.byteLength > limits.frameBytesMax) throw frameTooLarge(frame.byteLength, limits.frameBytesMax);
  for (const { buffer, byteLength } of attachments) {
    const ok = isShared(buffer) ? limits.shares : limits.moves && byteLength === buffer.byteLength;
    if (!ok) throw invalid("attachments", "whole buffers that this transport can move", `${byteLength} bytes`);
  }
}

/** Returns the error for a frame over the limit. */
export function frameTooLarge(bytes: number, frameBytesMax: number): ClearwayError {
  return new ClearwayError("too-large", `a frame of ${bytes} bytes; the transport takes ${frameBytesMax} at most`);
}

/** Returns whether memory is shared. Returns false on hosts without shared memory. */
export function isShared(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
  return typeof SharedArrayBuffer === "function" && buffer instanceof SharedArrayBuffer;
}

/**
 * Back-pressure for a carrier that has none. It counts the bytes in flight: bytes that were sent, and that the receiver has not
 * reported as taken. It changes only its own counts, and sends nothing itself. The sender asks for a report after each half of
 * its window. The receiver does not know the window, so the two ends may have windows of different sizes.
 */
export class SendWindow {
  readonly #windowBytes: number;
  #outBytes = 0;
  #unasked = 0;
  #full = false;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  /** Counts sent bytes. Returns whether the sender must ask the receiver for a report. */
  sent(bytes: number): boolean {
    this.#outBytes += bytes;
    this.#unasked += bytes;
    if (this.#outBytes >= this.#windowBytes) this.#full = true;
    if (this.#unasked * 2 < this.#windowBytes) return false;
    this.#unasked = 0;
    return true;
  }

  /** Uncounts bytes that could not be sent. `hadRoom` is the value of `room` before they were counted. */
  withdraw(bytes: number, hadRoom: boolean): void {
    this.#outBytes = Math.max(0, this.#outBytes - bytes);
    this.#unasked = Math.max(0, this.#unasked - bytes);
    if (hadRoom) this.#full = false;
  }

  /** Whether there is room for more bytes. A full window has room again when at most half of it is in flight. */
  get room(): boolean {
    return !this.#full;
  }

  /** Counts bytes that the receiver took. Returns whether the transport must call `drained`. */
  taken(bytes: number): boolean {
    // A report of more bytes than were sent counts as a report of all sent bytes.
    this.#outBytes = Math.max(0, this.#outBytes - bytes);
    if (!this.#full || this.#outBytes * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}

/**
 * Returns the size of a frame and its attachments for the window, in bytes. Every frame counts 8 bytes more than it has,
 * because an empty frame takes memory too.
 */
export function windowBytesOf(frame: Uint8Array, attachments: readonly Uint8Array[]): number {
  let bytes = frame.byteLength + 8;
  for (let at = 0; at < attachments.length; at++) bytes += (attachments[at] as Uint8Array).byteLength;
  return bytes;
}
