// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import type { WireName } from "../wire/hello.js";

/** How an endpoint is set up. */
export interface EndpointOptions {
  /**
   * What to speak. "clearway" (the default) is for another end of Clearway's; "plain" is Flutter's platform messages and
   * nothing else; "either" takes the first of both that the other end's hello names too.
   */
  readonly wire?: WireName | "either";
  /** False for a foreign end that sends no hello and expects none; only with `wire: "plain"`. Default true. */
  readonly hello?: boolean;
  /** How long to wait for the other end's hello; default 30 s. Infinity waits for ever. */
  readonly helloMs?: number;
  /** Gives up waiting for the hello, with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Calls and streams that this end may have under way, and that it runs for the other, each; default 4096. A call of the other
   * end's takes its place until its handler has ended and its answer has left, also when it was cancelled.
   */
  readonly callsMax?: number;
  /**
   * Bytes of answers that may wait for the other end to read; default 16 MiB. From there on none of its requests begins and, where
   * this end waits for no answer itself, nothing of it is read, until half of them have left. As many bytes of pushed events may wait for
   * it in all of its streams, whatever capacity it asks for: then a stream is full.
   */
  readonly replyBytesMax?: number;
  /** How long an end with so many may read none before it is disconnected (`timeout`), in ms; default 30 s. Infinity: for ever. */
  readonly stallMs?: number;
  /** Bytes of a channel's name; default 255, at most 65,535. */
  readonly nameBytesMax?: number;
  /**
   * Messages kept of each channel that has no handler yet; the oldest is dropped for the next. Default 16. The other end can
   * change it, channel by channel, up to 1024.
   */
  readonly early?: number;
  /** All early messages together, in bytes; default 1 MiB. */
  readonly earlyBytesMax?: number;
  /** How long they are kept; then they are answered with `no-handler`. Default 5 s. */
  readonly earlyMs?: number;
  /** From how many bytes on a list of numbers travels beside its message and not in it; default 16 KiB. */
  readonly attachmentBytesMin?: number;
  /** Throw `would-copy` where an attachment would be copied. What is small, or a transport of bytes alone carries, too. */
  readonly strict?: boolean;
  /** Write the stack of a handler's error as the fourth part of a plain envelope, which not every end reads. Default false. */
  readonly stacks?: boolean;
  /**
   * Whether what a handler or a source throws crosses whole, with stack, properties and causes. Default: to a worker, a child process
   * and a part of this one; over WebSockets, sockets and other streams its code and message cross, and the `details` of a
   * {@link RemoteError} that this end made.
   */
  readonly exposeErrors?: boolean;
  /**
   * Chooses what crosses in place of what a handler or a source threw, before anything else is left out of it: an error, such as
   * a {@link RemoteError}. Where it throws itself, the code `error` crosses and a message that says no more.
   */
  readonly redactError?: (error: unknown, channel: string) => unknown;
  /** Told of what a handler threw where nobody waits for an answer. Default: `console.error`. */
  readonly onError?: (error: unknown, channel: string) => void;
}

type Optional = "wire" | "signal" | "exposeErrors" | "redactError";

/** The options, complete. */
export interface EndpointSettings
  extends Required<Omit<EndpointOptions, Optional>>,
    Pick<EndpointOptions, "exposeErrors" | "redactError"> {
  readonly wires: readonly WireName[];
  readonly signal: AbortSignal | undefined;
}

export const earlyMax = 1024;

// Encoding a list into its message and out again copies it three times where one copy beside it does, and that may be moved. A
// round trip of it through a port in Node 20: 16 KiB take 32 us encoded and 30 beside, 64 KiB 47 and 37, 1 MiB 651 and 107
// (bench/channel-attachments.mjs). Below, there is nothing to gain.
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

/** The settings for some options. Throws `invalid-argument`. */
export function settingsOf(options: EndpointOptions): EndpointSettings {
  const { wire = "clearway", signal, ...given } = options;
  const settings = { ...defaults, ...given };
  if (wire !== "clearway" && wire !== "plain" && wire !== "either")
    throw invalid("wire", '"clearway", "plain" or "either"', wire);
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
