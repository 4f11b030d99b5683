// SPDX-License-Identifier: MIT OR Apache-2.0

import { invalid } from "../../error/clearway-error.js";
import { checkSignal } from "../../error/read-signal.js";
import type { WireName } from "../wire/hello.js";

/** Settings of an endpoint. */
export interface EndpointOptions {
  /**
   * The wire to use. "clearway" (the default) connects two ends of Clearway's; "plain" is Flutter's platform messages and nothing else;
   * "either" chooses the first of these two that the other end's hello also lists.
   */
  readonly wire?: WireName | "either";
  /** False for a foreign end that sends no hello and expects none; only with `wire: "plain"`. Default: true. */
  readonly hello?: boolean;
  /** Time limit of the other end's hello, in ms. Default: 30 s. Infinity: no limit. */
  readonly helloMs?: number;
  /** Stops waiting for the hello; `connect` rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Limit of the calls and of the streams that this end has open, and of those that it runs for the other end; each of the four
   * separately. Default: 4096. A call from the other end occupies its place until its handler has ended and its answer has left, even if
   * it was cancelled.
   */
  readonly callsMax?: number;
  /**
   * Bytes of answers that may wait for the other end to read. Default: 16 MiB. At this limit none of its requests starts and, unless this
   * end itself waits for an answer, the transport is paused, until half of the bytes have left. The same number limits the bytes of
   * pushed events that wait for it in all its streams together, whatever capacity it asks for: at that limit every stream is full.
   */
  readonly replyBytesMax?: number;
  /** Time in ms after which an end at that limit that reads nothing is disconnected (`timeout`). Default: 30 s. Infinity: never. */
  readonly stallMs?: number;
  /** Longest name of a channel, in bytes. Default: 255, at most 65,535. */
  readonly nameBytesMax?: number;
  /**
   * Messages kept per channel without a handler; a further message drops the oldest one. Default: 16. The other end can change the number
   * of a channel, up to 1024.
   */
  readonly early?: number;
  /** Limit of all early messages together, in bytes. Default: 1 MiB. */
  readonly earlyBytesMax?: number;
  /** How long early messages are kept, in ms, before they are answered with `no-handler`. Default: 5 s. */
  readonly earlyMs?: number;
  /** Smallest size in bytes at which a list of numbers travels next to its message, as an attachment. Default: 16 KiB. */
  readonly attachmentBytesMin?: number;
  /**
   * Throw `would-copy` instead of copying an attachment; a transport of bytes copies every attachment. Small lists stay in the message
   * and never throw.
   */
  readonly strict?: boolean;
  /** Write a handler error's stack as the fourth part of a plain envelope. Not every foreign end can read it. Default: false. */
  readonly stacks?: boolean;
  /**
   * Whether errors of handlers and sources cross in full, with stack, properties and causes. Default: true for a worker, a child process
   * and another part of this process. Over WebSockets, sockets and other streams, only the code and the message cross, and the `details`
   * of a {@link RemoteError} that this end created.
   */
  readonly exposeErrors?: boolean;
  /**
   * Returns the error that crosses instead of the one that a handler or a source threw, for example a {@link RemoteError}. Runs before
   * anything else is left out. If it throws, the code `error` crosses with a message without details.
   */
  readonly redactError?: (error: unknown, channel: string) => unknown;
  /** Called with handler errors that no caller waits for. Default: `console.error`. */
  readonly onError?: (error: unknown, channel: string) => void;
}

type Optional = "wire" | "signal" | "exposeErrors" | "redactError";

/** The options with all defaults filled in. */
export interface EndpointSettings
  extends Required<Omit<EndpointOptions, Optional>>,
    Pick<EndpointOptions, "exposeErrors" | "redactError"> {
  readonly wires: readonly WireName[];
  readonly signal: AbortSignal | undefined;
}

export const earlyMax = 1024;

// Encoding a list into its message and decoding it copies it three times. An attachment is copied once, and can be moved instead. A round
// trip of such a list through a port in Node 20 takes, encoded and as an attachment: 16 KiB 32 us and 30 us, 64 KiB 47 us and 37 us, 1
// MiB 651 us and 107 us (ts/clearway/bench/channel-attachments.mjs). Below 16 KiB there is nothing to gain.
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

/** Returns the complete settings. Throws `invalid-argument`. */
export function settingsOf(options: EndpointOptions): EndpointSettings {
  const { wire = "clearway", signal, ...given } = options;
  const settings = { ...defaults, ...given };
  if (wire !== "clearway" && wire !== "plain" && wire !== "either")
    throw invalid("wire", '"clearway", "plain" or "either"', wire);
  checkSignal(signal);
  if (!settings.hello && wire !== "plain") throw invalid("hello", 'true unless wire is "plain"', settings.hello);
  whole("callsMax", settings.callsMax, 1, 0x7fff_ffff);
  whole("replyBytesMax", settings.replyBytesMax, 1, 0x7fff_ffff);
  whole("nameBytesMax", settings.nameBytesMax, 1, 0xffff);
  whole("early", settings.early, 0, earlyMax);
  whole("earlyBytesMax", settings.earlyBytesMax, 0, 0x7fff_ffff);
  whole("attachmentBytesMin", settings.attachmentBytesMin, 1, 0x7fff_ffff);
  if (settings.exposeErrors !== undefined && typeof settings.exposeErrors !== "boolean")
    throw invalid("exposeErrors", "true or false", settings.exposeErrors);
  if (settings.redactError !== undefined && typeof settings.redactError !== "function")
    throw invalid("redactError", "a function", settings.redactError);
  for (const name of ["helloMs", "earlyMs", "stallMs"] as const)
    if (!(settings[name] >= 0)) throw invalid(name, "0 or more", settings[name]);
  return { ...settings, wires: wire === "either" ? ["clearway", "plain"] : [wire], signal };
}

function whole(name: string, value: number, min: number, max: number): void {
  if (!(Number.isInteger(value) && value >= min && value <= max))
    throw invalid(name, `a whole number from ${min} to ${max}`, value);
}
