// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Extension, type StandardMessageCodec, standardMessageCodec } from "clearway/channel";
import { ClearwayError, errorFromPlain, errorToPlain } from "clearway/remote";
import { Op } from "./protocol.js";

/** Limits on the values of one message. A value of two bytes, such as an empty list of bytes, takes up to 200 bytes of memory. */
const limits = { emptyNull: false, depthMax: 256, itemsMax: 1 << 22 };

/** Returns the codec of all messages of a pool: the standard codec with the app's extensions. Throws `invalid-argument`. */
export function wireCodec(extensions: readonly Extension[] = []): StandardMessageCodec {
  return standardMessageCodec.with({ ...limits, extensions });
}

/** A call as it crosses. Options without a value are undefined. */
export interface WireCall {
  readonly task: string;
  readonly args: readonly unknown[];
  readonly options: WireCallOptions | undefined;
}

/** The options of a call as they cross. A deadline crosses as the time that is left, because the clocks of two machines differ. */
export interface WireCallOptions {
  readonly timeoutMs?: number | undefined;
  /** Time that is left for the whole call, in milliseconds. */
  readonly deadlineMs?: number | undefined;
  readonly key?: string | undefined;
  readonly priority?: number | undefined;
  /** Whether the caller listens to the task's progress. */
  readonly progress?: boolean | undefined;
  /** The first credit for a result that is a stream. Undefined if the caller takes no stream. */
  readonly window?: { readonly items: number; readonly bytes: number } | undefined;
  /** Indexes of the arguments that are streams. The arguments themselves are null. */
  readonly inputs?: readonly number[] | undefined;
}

/** The outcome of a call. */
export type WireReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/**
 * Encodes a call. Copies the arguments. Throws a `CodecError`, such as `not-encodable`, for an argument that the codec has no form for.
 */
export function encodeCall(codec: StandardMessageCodec, { task, args, options }: WireCall): Uint8Array {
  return codec.encode(options === undefined ? [Op.call, task, args] : [Op.call, task, args, fieldsOf(options)]);
}

/**
 * Decodes a call. With `owned`, the arguments may be views of `bytes`, which then belong to them. Throws a `ClearwayError` with the code of
 * a codec, or `protocol`, for bytes that are no call.
 */
export function decodeCall(codec: StandardMessageCodec, bytes: Uint8Array, owned = false): WireCall {
  return callOf(fields(codec, bytes, owned));
}

/** Returns the call in a decoded message. Throws `protocol` if the message is no call. */
export function callOf(message: readonly unknown[]): WireCall {
  const [op, task, args, options] = message;
  if (op !== Op.call) throw malformed(`a call begins with ${describe(op)}`);
  if (typeof task !== "string" || task.length === 0) throw malformed("a call has no task");
  if (!Array.isArray(args)) throw malformed("a call's arguments are no list");
  if (message.length > 4) throw malformed("a call has too many fields");
  return { task, args, options: options === undefined || options === null ? undefined : optionsOf(options, args) };
}

/** Encodes a result. Copies it. Throws a `CodecError` for a value that the codec has no form for. */
export function encodeResult(codec: StandardMessageCodec, value: unknown): Uint8Array {
  return codec.encode([Op.result, value]);
}

/**
 * Encodes a thrown value in at most `bytesMax` bytes, which must be 1,000 or more. Never throws. An error that is too large keeps its class,
 * its code and the beginning of its message.
 */
export function encodeFailure(codec: StandardMessageCodec, thrown: unknown, bytesMax?: number): Uint8Array {
  return encodeError(codec, [Op.failure], thrown, bytesMax);
}

/** The same behind the given head of a message. */
export function encodeError(
  codec: StandardMessageCodec,
  head: readonly number[],
  thrown: unknown,
  bytesMax = 1 << 18,
): Uint8Array {
  try {
    const whole = codec.encode([...head, errorToPlain(thrown)]);
    if (whole.length <= bytesMax) return whole;
  } catch {
    // The depth of the error is beyond the codec's limit.
  }
  return codec.encode([...head, shortened(thrown, bytesMax)]);
}

/**
 * Decodes the outcome of a call. Throws a `ClearwayError` with the code of a codec, or `protocol`, for bytes that are no outcome. Does not
 * throw for an outcome that is a failure.
 */
export function decodeReply(codec: StandardMessageCodec, bytes: Uint8Array, callerStack = ""): WireReply {
  return replyOf(fields(codec, bytes, false), callerStack);
}

/** Returns the outcome in a decoded message. Throws `protocol` if the message is no outcome. */
export function replyOf(message: readonly unknown[], callerStack = ""): WireReply {
  const [op, value] = message;
  if (message.length !== 2 || (op !== Op.result && op !== Op.failure)) throw malformed("a reply has no outcome");
  return op === Op.result ? { ok: true, value } : { ok: false, error: errorFromPlain(value, callerStack) };
}

/** Decodes any message: a list that begins with an op. Throws a `ClearwayError` with the code of a codec, or `protocol`. */
export function fields(codec: StandardMessageCodec, bytes: Uint8Array, owned: boolean): readonly unknown[] {
  const message = codec.decode(bytes, { owned });
  if (!Array.isArray(message) || typeof message[0] !== "number") throw malformed("a message does not begin with an op");
  return message;
}

/** Returns the error for a message that breaks the protocol. */
export function malformed(what: string): ClearwayError {
  return new ClearwayError("protocol", `a message of a remote pool is malformed: ${what}`);
}

// The options cross as a list. Trailing fields without a value are left out.
function fieldsOf(options: WireCallOptions): unknown[] {
  const { timeoutMs, deadlineMs, key, priority, progress, window, inputs } = options;
  const list = [
    timeoutMs,
    deadlineMs,
    key,
    priority,
    progress || undefined,
    window && [window.items, window.bytes],
    inputs,
  ];
  while (list.length > 0 && list.at(-1) === undefined) list.pop();
  return list;
}

const amount = (value: unknown): value is number => typeof value === "number" && value >= 0;
const absent = (value: unknown): boolean => value === undefined || value === null;

// Checks every field, because the other end may be hostile.
function optionsOf(list: unknown, args: readonly unknown[]): WireCallOptions {
  if (!Array.isArray(list) || list.length > 7) throw malformed("a call's options are no list");
  const [timeoutMs, deadlineMs, key, priority, progress, window, inputs] = list as readonly unknown[];
  const given = <T>(name: string, value: unknown, is: (value: unknown) => value is T): T | undefined => {
    if (absent(value)) return undefined;
    if (!is(value)) throw malformed(`a call's option ${name} is ${describe(value)}`);
    return value;
  };
  return {
    timeoutMs: given("timeoutMs", timeoutMs, amount),
    deadlineMs: given("deadlineMs", deadlineMs, amount),
    key: given("key", key, (value) => typeof value === "string"),
    priority: given("priority", priority, (value): value is number => Number.isFinite(value)),
    progress: given("progress", progress, (value) => value === true),
    window: windowOf(given("window", window, isList)),
    inputs: inputsOf(given("inputs", inputs, isList), args),
  };
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

function windowOf(list: unknown[] | undefined): WireCallOptions["window"] {
  if (list === undefined) return undefined;
  const [items, bytes] = list;
  if (list.length !== 2 || !amount(items) || !amount(bytes)) throw malformed("a call's window is no pair of numbers");
  return { items, bytes };
}

function inputsOf(list: unknown[] | undefined, args: readonly unknown[]): readonly number[] | undefined {
  if (list === undefined) return undefined;
  for (const [at, index] of list.entries()) {
    const fits = Number.isInteger(index) && (index as number) >= 0 && (index as number) < args.length;
    // The indexes grow, so that none comes twice.
    if (!fits || (at > 0 && (index as number) <= (list[at - 1] as number)))
      throw malformed("a call's inputs are no growing list of argument indexes");
  }
  return list as number[];
}

function describe(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : `of type ${typeof value}`;
}

// The error's name, code and the beginning of its message, in the form of `clearway/remote`.
function shortened(thrown: unknown, bytesMax: number): unknown {
  // A character takes at most 3 bytes in UTF-8.
  const charactersMax = Math.floor((bytesMax - 500) / 3);
  const whole = errorToPlain(thrown) as { base?: string; name?: string; message?: string; props?: [string, unknown][] };
  if (whole.base === undefined) return { value: "[a thrown value that is too large]" };
  const short = (text = "", most = charactersMax): string =>
    text.length > most ? `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
  const code = whole.props?.find(([key]) => key === "code")?.[1];
  const props = typeof code === "string" ? [["code", short(code, 64)]] : [];
  return { base: whole.base, name: short(whole.name, 64), message: short(whole.message), stack: "", props };
}
