// SPDX-License-Identifier: MIT OR Apache-2.0
import { abortSignal, checked, type Rules, type Test, wholeFrom } from "../../error/checked.js";
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { defaultWindow, type Window } from "../../stream/credit.js";
import { padded, type WireName } from "../wire/frame.js";
import type { QueueLimits, WhenFull } from "./source-queue.js";

/** Settings of an endpoint. */
export interface EndpointOptions {
  /**
   * The wire to use. "clearway" connects two Clearway endpoints. "plain" uses only the messages of Flutter's platform channels.
   * "either" uses "clearway" if the other end's hello lists it, else "plain". Default: "clearway".
   */
  readonly wire?: WireName | "either" | undefined;
  /**
   * The codec of channels that name none. "clone": values cross by structured clone, which also carries dates, sets, errors and all typed
   * arrays. Both ends must take it, and the transport must be a port; otherwise `connect` rejects with `protocol`. "standard": values
   * cross as bytes of the standard codec. Default: "clone" if the transport is a port without a ring, both ends are parts of one program,
   * and both take it; otherwise "standard".
   */
  readonly codec?: "clone" | "standard" | undefined;
  /**
   * Whether the ends exchange a hello. Set false for an end that is not Clearway's, and that sends no hello and expects none.
   * False needs `wire: "plain"`. Default: true.
   */
  readonly hello?: boolean | undefined;
  /** Maximum time to wait for the other end's hello, in milliseconds. Default: 30,000. Infinity: no limit. */
  readonly helloMs?: number | undefined;
  /** Stops waiting for the hello when it aborts. `connect` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum number of open calls and of open streams. The limit holds for four numbers separately: calls and streams that this
   * end has open, and calls and streams that this end runs for the other end. Default: 4096. A call from the other end counts
   * until its handler has ended and its answer has been sent, even if the call was cancelled.
   */
  readonly callsMax?: number | undefined;
  /**
   * Bytes of answers that may wait for the other end to read. Default: 16 MiB. At this limit, no request of the other end
   * starts. The transport is paused too, unless an answer to a call of this end may still arrive. When half of the bytes have
   * been sent, requests start again and the transport resumes.
   *
   * The same number limits the bytes of pushed events that wait for the other end, in all its streams together. At that limit,
   * every stream counts as full, whatever capacity the other end asked for. On the plain wire, it also limits the bytes of the
   * events that wait to be read in one stream.
   */
  readonly replyBytesMax?: number | undefined;
  /**
   * Maximum time that the other end may stay at `replyBytesMax` without reading an answer, in milliseconds. While a message of
   * more than 1 MiB leaves, the other end has this time for each MiB. After this time it is disconnected with `timeout`.
   * Default: 30,000. Infinity: no limit.
   */
  readonly stallMs?: number | undefined;
  /**
   * Maximum number of values in one message that arrives. A message with more is refused with `too-large` before its values take
   * memory. All values in lists and maps count, and a map entry counts as two. A typed array counts as one. A value takes up to
   * about 200 bytes of memory, also if it has only 2 bytes in the message. Holds for the standard and the JSON codecs. If a
   * codec's own `itemsMax` is smaller, that limit holds. Default: 1,048,576; 16,777,216 if the other end is a worker, a child
   * process or another part of this process.
   */
  readonly valuesMax?: number | undefined;
  /** Maximum length of a channel's name, in bytes. Default: 255. It can be 65,535 at most. */
  readonly nameBytesMax?: number | undefined;
  /**
   * Number of messages that are kept for a channel without a handler. A further message drops the oldest one. From 0 to 1,024. Default:
   * 16.
   */
  readonly early?: number | undefined;
  /** Maximum size of all early messages together, in bytes. Default: 1 MiB. */
  readonly earlyBytesMax?: number | undefined;
  /** Time that early messages are kept, in milliseconds. After this time they are answered with `no-handler`. Default: 5,000. */
  readonly earlyMs?: number | undefined;
  /** Minimum size of a list of numbers that travels next to its message, as an attachment, in bytes. Default: 16 KiB. */
  readonly attachmentBytesMin?: number | undefined;
  /**
   * Whether to throw `would-copy` instead of copying an attachment. A transport of bytes copies every attachment, so it refuses
   * all attachments then. Small lists stay in the message and never throw. Default: false.
   */
  readonly strict?: boolean | undefined;
  /**
   * Whether an error reply on the plain wire has the stack of a handler's error as its fourth part. Some ends that are not
   * Clearway's cannot read this part. Default: false.
   */
  readonly stacks?: boolean | undefined;
  /**
   * Whether the other end receives errors of handlers and sources in full, with stack, properties and causes. If false, it
   * receives only the code and the message, and the `details` of a {@link RemoteError} that this end created. Default: true for
   * a worker, a child process and another part of this process; false for WebSockets, sockets and other streams.
   */
  readonly exposeErrors?: boolean | undefined;
  /**
   * Returns the error to send instead of the error that a handler or a source threw, for example a {@link RemoteError}. It runs
   * before any part of the error is left out. If it throws, the other end receives the code `error` and a message without
   * details.
   */
  readonly redactError?: ((error: unknown, channel: string) => unknown) | undefined;
  /**
   * Called with errors that no caller receives, such as the error of a post's handler, and with the first of a channel's posts that this
   * end drops. Default: `console.error`.
   */
  readonly onError?: ((error: unknown, channel: string) => void) | undefined;
}

type Optional = "wire" | "codec" | "signal" | "valuesMax" | "exposeErrors" | "redactError";

/** The options with all defaults filled in. */
export interface EndpointSettings
  extends Required<Omit<EndpointOptions, Optional>>,
    Pick<EndpointOptions, "codec" | "valuesMax" | "exposeErrors" | "redactError"> {
  readonly wires: readonly WireName[];
  readonly signal: AbortSignal | undefined;
}

const earlyMax = 1024;

// Defaults of `valuesMax`. An empty typed array and an empty `Map` have 2 bytes in a message, and take 194 bytes of memory in Node
// 20 (ts/clearway/bench/codec/values.mjs). A frame of 64 MiB with nothing else would take 6 GB, or 3 GB with the codecs' own
// limit of 16,777,216 values. With 1,048,576 values, a message takes at most 0.2 GB beyond its texts and typed arrays.
export const valuesMax = 1 << 20;
export const trustedValuesMax = 1 << 24;

// A list inside a message is copied three times, from encoding to decoding. An attachment is copied once, or moved. Measured
// round trips of a list through a port in Node 20, inside the message and as an attachment: 32 us and 30 us for 16 KiB, 47 us
// and 37 us for 64 KiB, 651 us and 107 us for 1 MiB (ts/clearway/bench/channel-attachments.mjs). Below 16 KiB, an attachment
// saves no time.
const attachmentBytesMin = 16 << 10;

const defaults = {
  hello: true,
  helloMs: 30_000,
  callsMax: 4096,
  replyBytesMax: 16 << 20,
  stallMs: 30_000,
  nameBytesMax: 255,
  early: 16,
  earlyBytesMax: 1 << 20,
  earlyMs: 5_000,
  attachmentBytesMin,
  strict: false,
  stacks: false,
  onError: (error: unknown, channel: string): void => console.error(`clearway/channel, ${channel}:`, error),
};

const rules: Rules = {
  wire: ["clearway", "plain", "either"],
  codec: ["clone", "standard"],
  hello: "boolean",
  helloMs: 0,
  signal: abortSignal,
  callsMax: (value) => wholeFrom(value, 1, 0x7fff_ffff),
  replyBytesMax: (value) => wholeFrom(value, 1, 0x7fff_ffff),
  stallMs: 0,
  valuesMax: (value) => wholeFrom(value, 1, 0x7fff_ffff),
  nameBytesMax: (value) => wholeFrom(value, 1, 0xffff),
  early: (value) => wholeFrom(value, 0, earlyMax),
  earlyBytesMax: (value) => wholeFrom(value, 0, 0x7fff_ffff),
  earlyMs: 0,
  attachmentBytesMin: (value) => wholeFrom(value, 1, 0x7fff_ffff),
  strict: "boolean",
  stacks: "boolean",
  exposeErrors: "boolean",
  redactError: "function",
  onError: "function",
};

/** Returns the complete settings. Throws `invalid-argument`. */
export function settingsOf(options: EndpointOptions): EndpointSettings {
  const {
    wire = "clearway",
    signal,
    ...settings
  } = checked(options, rules, defaults) as EndpointOptions & typeof defaults;
  if (settings.codec === "clone" && wire !== "clearway")
    throw invalid("codec", '"standard" unless wire is "clearway"', settings.codec);
  if (!settings.hello && wire !== "plain") throw invalid("hello", 'true unless wire is "plain"', settings.hello);
  return { ...settings, wires: wire === "either" ? ["clearway", "plain"] : [wire], signal };
}

/** Returns the size of a frame's part after the name, if the frame contains its attachments, in bytes. */
export function inlineBytes(body: Uint8Array, list: readonly Uint8Array[]): number {
  if (list.length === 0) return body.length;
  return list.reduce((sum, each) => sum + padded(each.length), padded(body.length) + padded(list.length * 4));
}

/** Returns the error for a message that does not fit into a frame. */
export function tooLarge(bytes: number, max: number): ClearwayError {
  return new ClearwayError("too-large", `a message of ${bytes} bytes; the way to the other end takes ${max} at most`);
}

/** Options of a listener. */
export interface ListenOptions {
  /** Ends the stream at both ends when it aborts. Reading rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of events and of bytes that the other end may send ahead of the reader. Default: 16 events and 1 MiB. */
  readonly window?: { items?: number | undefined; bytes?: number | undefined } | undefined;
  /**
   * Number of pushed events that may wait at the other end when the window is used up. Default: the other end's setting, else
   * 16.
   */
  readonly capacity?: number | undefined;
  /**
   * Policy of the other end's queue when it is full. Default: the other end's setting, else "wait". "wait" and "fail" do not override a
   * setting that drops events.
   */
  readonly whenFull?: WhenFull | undefined;
  /** Called with the number of dropped events when the next event, or the end of the stream, is read. */
  readonly onDrop?: ((count: number) => void) | undefined;
}

/** Settings of the queue of pushed events, for listeners that do not set their own. */
export interface ServeOptions {
  /** Policy of a full queue. Default: "wait". */
  readonly whenFull?: WhenFull | undefined;
  /**
   * Number of events that may wait when the listener's window is used up: 1 to 65,535. Default: 16. Values of an iterable do
   * not wait in this queue.
   */
  readonly capacity?: number | undefined;
}

const policies: readonly WhenFull[] = ["wait", "fail", "dropOldest", "dropNewest"];
const capacityMax = 0xffff;
const capacityDefault = 16;

/**
 * Returns options for a reader that wants only the newest event, such as the next frame to draw. If events are pushed faster
 * than they are read, the other end keeps only the newest one. The next value of an iterable is requested only when the reader
 * is ready for it. With a window of 1, one event is in flight or waits at the reader. With a window of 2, the next event is in
 * flight while the reader reads one.
 */
export function latest(window = 1): ListenOptions {
  return { window: { items: window }, capacity: 1, whenFull: "dropOldest" };
}

const windowRule: Test = (value) => wholeFrom(value, 1, 0x7fff_ffff);
const serveRules: Rules = { whenFull: policies, capacity: (value) => wholeFrom(value, 1, capacityMax) };
const listenRules: Rules = {
  signal: abortSignal,
  window: { items: windowRule, bytes: windowRule },
  capacity: (value) => wholeFrom(value, 1, capacityMax),
  whenFull: policies,
  onDrop: "function",
};

/** The options of a listener with a complete window. */
interface ListenSettings extends ListenOptions {
  readonly window: Window;
}

const defaultListen: ListenSettings = { window: defaultWindow };

/** Checks the options and fills in the window. Throws `invalid-argument`. */
export function listenSettings(options: ListenOptions | undefined): ListenSettings {
  if (options === undefined) return defaultListen;
  return checked(options, listenRules, defaultListen) as ListenSettings;
}

/** Checks the options and returns the complete limits. Throws `invalid-argument`. */
export function serveSettings(options: ServeOptions): QueueLimits {
  return checked(options, serveRules, { capacity: capacityDefault, whenFull: "wait" }) as QueueLimits;
}

/** Returns a policy's number on the wire. 0 leaves the choice to the other end. */
export function policyNumber(whenFull: WhenFull | undefined): number {
  return whenFull === undefined ? 0 : policies.indexOf(whenFull) + 1;
}

/**
 * Returns the limits that the listener asked for. Limits that it left open have this end's values. A source that drops events is not written
 * to wait or to fail, so its listener chooses only which events are dropped.
 */
export function limitsFor(requested: { capacity: number; policy: number }, own: QueueLimits): QueueLimits {
  const asked = policies[requested.policy - 1] ?? own.whenFull;
  const stays = own.whenFull.startsWith("drop") && !asked.startsWith("drop");
  return { capacity: requested.capacity || own.capacity, whenFull: stays ? own.whenFull : asked };
}
