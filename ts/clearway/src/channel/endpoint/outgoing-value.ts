// SPDX-License-Identifier: MIT OR Apache-2.0
import { refuseDetached } from "#host";
import { checkDepth } from "../../error/depth.js";
import { structuredClone } from "../../globals.js";
import { bufferBytes, memoryOf, totalBufferBytes } from "../../host/structure.js";
import { copyValue } from "../../transfer/copy-value.js";
import { compactView } from "../../transfer/find-memory.js";
import { MovedValue } from "../../transfer/move.js";
import {
  atOnce,
  attaching,
  type Codec,
  codecError,
  type MessageCodec,
  type MethodCall,
  type MethodCodec,
  type MethodReply,
  requireMemory,
} from "../codec/codec.js";
import { standardMessageCodec, standardMethodCodec } from "../codec/standard.js";
import { isShared, messageBytes, notCloneable, type ValueFrame } from "../transport/transport.js";
import { Flag, type FrameParts, Op } from "../wire/frame.js";
import {
  type AttachmentRules,
  type Attachments,
  type ChannelCopyReason,
  canMove,
  type Ownership,
  wouldCopy,
} from "./attachments.js";
import { type FoundInValue, nodeBytes, nodesMax, objectsMax, plainCopy, searchValue } from "./search-value.js";

/**
 * A value that leaves by structured clone. Small plain values are copied at once, and leave with the other frames of the tick. Other values
 * are cloned by the port when they leave, or by `hold` if they have to wait.
 */
export class OutgoingValue {
  value: unknown;
  readonly method: string | undefined;
  /** The objects that move. Undefined if no other code has the value: nothing has to be cloned before the tick ends. */
  transfer: readonly object[] | undefined;
  /** Size of the value, as an estimate, in bytes. */
  bytes = 0;
  movedBytes = 0;
  sharedBytes = 0;
  /** Bytes of binary memory that are copied, and the reasons. */
  copiedBytes = 0;
  copies: readonly (readonly [reason: ChannelCopyReason, bytes: number, lists: number])[] = noCopies;
  /** Whether the value has objects of `float64()`. It then has to cross as bytes. */
  hasFloats = false;
  /** Whether the value has left, and why it could not leave. A stream's source sets both. */
  left = false;
  failed: { reason: unknown } | undefined;
  #held = false;

  /**
   * Finds the memory in a value, or in the value inside `move()`. `unmoved` is the ownership of a value without `move()`. Throws
   * `would-copy`, `released` or `not-cloneable`, or what a getter in the value throws. Moves nothing yet.
   */
  constructor(given: unknown, method: string | undefined, unmoved: Ownership, rules: AttachmentRules) {
    this.method = method;
    const moved = typeof given === "object" && given !== null && given instanceof MovedValue ? given : undefined;
    // As with the other codecs, a missing value is null.
    const value = (moved === undefined ? given : moved.value) ?? null;
    this.value = value;
    this.transfer = none;
    if (method !== undefined) this.bytes += method.length;
    if (typeof value !== "object" || value === null) {
      this.bytes += typeof value === "string" ? value.length + nodeBytes : nodeBytes;
      // Structured clone refuses functions and symbols.
      if (typeof value !== "function" && typeof value !== "symbol") this.transfer = undefined;
      return;
    }
    const listed = moved?.transfer;
    const ownership = moved === undefined ? unmoved : "move";
    if (listed === undefined && ArrayBuffer.isView(value) && this.#movesAlone(value, ownership, rules)) return;
    const found = searchValue(value);
    if (found.deep) checkDepth(value);
    this.hasFloats = found.hasFloats;
    this.bytes += found.bytes;
    if (found.hasFloats) return;
    const plain = listed === undefined && mayBePlain(found) ? plainCopy(value) : undefined;
    if (plain !== undefined) {
      this.value = plain;
      this.transfer = undefined;
    } else this.#transfer(found, value, ownership, rules, listed);
  }

  /** Clones the value and moves its memory, because it has to wait. Throws `not-cloneable`. Does nothing the second time. */
  hold(): void {
    if (this.transfer === undefined || this.#held) return;
    this.#held = true;
    try {
      for (const each of this.transfer) refuseDetached(each);
      this.value = structuredClone(this.value, { transfer: this.transfer as Transferable[] });
    } catch (reason) {
      throw notCloneable(reason);
    }
    // Only this object has the clone, so all of its memory can move.
    const { views, buffers, transferables } = searchValue(this.value);
    const all = [...views.map(({ buffer }) => buffer), ...buffers].filter((each) => !isShared(each));
    this.transfer = [...new Set<object>([...all, ...transferables])];
  }

  // Handles a list alone that moves: nothing has to be searched.
  #movesAlone(view: ArrayBufferView, ownership: Ownership, { bytesMin }: AttachmentRules): boolean {
    const gives = ownership === "move" || (ownership === "result" && view.byteLength >= bytesMin);
    if (!gives || !isWhole(view) || !canMove(view.buffer as ArrayBuffer)) return false;
    this.bytes += nodeBytes + view.byteLength;
    this.movedBytes = view.byteLength;
    this.transfer = [view.buffer];
    return true;
  }

  #transfer(
    found: FoundInValue,
    value: object,
    given: Ownership,
    rules: AttachmentRules,
    listed: readonly object[] | undefined,
  ): void {
    if (listed === undefined && given !== "move" && this.#areSmall(found, rules)) return;
    // With a list, exactly the objects of the list move.
    const ownership = listed === undefined ? given : "kept";
    const transfer = new Set<object>(listed ?? (given === "kept" ? none : found.transferables));
    this.movedBytes = totalBufferBytes([...transfer]);
    const whole = found.views.filter(isWhole).map(({ buffer }) => buffer);
    for (const buffer of new Set([...whole, ...found.buffers])) this.#buffer(buffer, ownership, rules, transfer);
    const replaced = new Map<object, object>();
    for (const view of found.views) {
      // A view of a part of a buffer would take the whole buffer along.
      if (isWhole(view) || replaced.has(view) || this.#leaves(view, transfer, rules)) continue;
      const reason = isShared(view.buffer) ? "not-transferable" : "partial-view";
      this.#copy(reason, memoryOf(view).byteLength, ownership, rules);
      const copy = compactView(view);
      replaced.set(view, copy);
      transfer.add(copy.buffer);
    }
    if (replaced.size > 0) this.value = copyValue(value, (object) => replaced.get(object));
    this.transfer = [...transfer];
  }

  // Handles a value without memory, or with a few small lists, as most values are: structured clone copies all of it.
  #areSmall({ views, buffers, transferables }: FoundInValue, { bytesMin }: AttachmentRules): boolean {
    if (buffers.length + transferables.length > 0 || views.length > smallViewsMax) return false;
    let bytes = 0;
    for (let at = 0; at < views.length; at++) {
      const view = views[at] as ArrayBufferView;
      if (view.byteLength >= bytesMin || !isWhole(view)) return false;
      // The memory under two views is copied once.
      for (let before = 0; before < at; before++) if (views[before]?.buffer === view.buffer) return false;
      bytes += view.byteLength;
    }
    if (views.length > 0) this.copies = [["cloned", bytes, views.length]];
    this.copiedBytes = bytes;
    return true;
  }

  /** Whether a view of a part of a buffer leaves as it is: the buffer moves or is shared. */
  #leaves({ buffer, byteLength }: ArrayBufferView, transfer: Set<object>, rules: AttachmentRules): boolean {
    if (!isShared(buffer)) return transfer.has(buffer);
    if (rules.shares) this.sharedBytes += byteLength;
    return rules.shares;
  }

  #buffer(buffer: ArrayBufferLike, ownership: Ownership, rules: AttachmentRules, transfer: Set<object>): void {
    const { byteLength } = buffer;
    if (isShared(buffer)) {
      if (!rules.shares) throw notCloneable("the other end cannot share the memory in it");
      this.sharedBytes += byteLength;
    } else if (!transfer.has(buffer)) {
      const gives = ownership === "move" || (ownership === "result" && byteLength >= rules.bytesMin);
      if (!gives || !canMove(buffer))
        return this.#copy(gives ? "not-transferable" : "not-moved", byteLength, ownership, rules);
      transfer.add(buffer);
      this.movedBytes += byteLength;
    }
  }

  #copy(reason: ChannelCopyReason, bytes: number, ownership: Ownership, { strict, bytesMin }: AttachmentRules): void {
    if (bytes === 0) return;
    const must = ownership === "move" && (strict || reason !== "partial-view");
    if (must || (strict && bytes >= bytesMin)) throw wouldCopy(reason, bytes);
    this.copiedBytes += bytes;
    this.copies = [...this.copies, [bytes < bytesMin ? "cloned" : reason, bytes, 1]];
  }
}

const none: readonly object[] = [];

/** Returns whether a value is so small that its copy may wait for the end of the tick, if it is plain. */
function mayBePlain({ nodes, objects, deep, views }: FoundInValue): boolean {
  return nodes <= nodesMax && objects <= objectsMax && views.length === 0 && !deep;
}

// With more views, finding those of one buffer takes longer than a set.
const smallViewsMax = 8;
const noCopies: OutgoingValue["copies"] = [];

// Returns whether a view shows its whole buffer. Throws `released` if the view's memory was moved away.
function isWhole(view: ArrayBufferView): boolean {
  if (view.byteLength === 0) requireMemory(view);
  const { buffer, byteLength } = memoryOf(view);
  return byteLength === bufferBytes(buffer);
}

// The codecs of a channel that names none, between two ends that take values by structured clone. They encode nothing: the connection sends
// their values as they are. If the other end names the standard codec for the channel, its messages are bytes, which these codecs read.

/** The message codec of values by structured clone. */
export const cloneMessageCodec: MessageCodec<unknown> = attaching({ ...standardMessageCodec, name: "clone" });

/** The method codec of values by structured clone. */
export const cloneMethodCodec: MethodCodec = {
  name: "clone",
  call: attaching({ ...standardMethodCodec.call, name: "clone" }),
  reply: attaching({ ...standardMethodCodec.reply, name: "clone" }),
};

/** Returns the name of a method. Throws `not-encodable` if it is no string, as the other codecs do. */
export function checkMethod(method: string): string {
  if (typeof method !== "string") throw codecError("not-encodable", "a method's name is no string", 0);
  return method;
}

/**
 * Returns the message of a frame for a channel's codec. A channel that names a codec reads the bytes that the standard codec makes of the
 * value, as if the other end had sent them. Throws a `CodecError`, with the remedy, for a value that this codec cannot read.
 */
export function readCloned<T>(codec: Codec<T, never>, { op, method, value }: ValueFrame): T {
  if (codec === (cloneMethodCodec.reply as unknown)) return { kind: "success", value } satisfies MethodReply as T;
  if (codec === (cloneMessageCodec as unknown)) return value as T;
  if (codec === (cloneMethodCodec.call as unknown)) {
    if (method === undefined) throw codecError("malformed", "a call without a method", 0);
    return { method, args: value } satisfies MethodCall as T;
  }
  try {
    return atOnce(codec.decode(standardBytes(op !== Op.call && codec.name.endsWith("-method"), method, value)));
  } catch (cause) {
    const what = `the other end sent a value by structured clone, which the codec "${codec.name}" of this end cannot read. Name the same codec at both ends`;
    throw codecError("malformed", what, 0, cause);
  }
}

function standardBytes(isReply: boolean, method: string | undefined, value: unknown): Uint8Array {
  if (method !== undefined) return standardMethodCodec.call.encode({ method, args: value });
  if (isReply) return standardMethodCodec.reply.encode({ kind: "success", value });
  return standardMessageCodec.encode(value);
}

/** Returns the frame of a value, or a frame without a message. */
export function valueFrame(parts: FrameParts, flags: number, message: OutgoingValue | undefined): ValueFrame {
  const { op, id = 0, a = 0, b = 0, c = 0, channel = "" } = parts;
  return {
    op,
    flags: message ? flags | Flag.value : flags,
    // As in a frame of bytes.
    id: id >>> 0,
    a: a >>> 0,
    b: b >>> 0,
    c,
    name: parts.name ? channel : "",
    method: message?.method,
    value: message?.value,
    bytes: message ? message.bytes : 0,
    copied: message ? message.copiedBytes : 0,
    moved: message ? message.movedBytes : 0,
    shared: message ? message.sharedBytes : 0,
  };
}

/** An encoded message to send. */
export interface Encoded {
  readonly body: Uint8Array;
  readonly flags: number;
  /** Undefined if the message has no attachments. */
  readonly attachments: Attachments | undefined;
  /** The message's value, if it crosses by structured clone. It then has no body and no attachments. */
  readonly value?: OutgoingValue | undefined;
}

/** A message as it arrived, not yet decoded. */
export interface Received {
  readonly body: Uint8Array;
  readonly flags: number;
  readonly attachments: readonly Uint8Array[];
  /** Whether the frame fills its buffer. No other frame then shares the buffer. */
  readonly fillsBuffer: boolean;
  /** The frame with the message's value, if it crossed by structured clone. */
  readonly value?: ValueFrame | undefined;
}

/**
 * Returns the bytes that are charged to the other end while this end keeps a message (spec/channel.md): those of its frame, with a name of
 * `nameBytes`, and its objects, which are the message and its attachments. Memory that was moved or is shared does not count, nor does a value by
 * structured clone.
 */
export function keptBytes({ body, attachments }: Received, nameBytes: number): number {
  let bytes = messageBytes + nameBytes + body.length;
  for (const { buffer, length } of attachments) bytes += messageBytes + (buffer === body.buffer ? length : 0);
  return bytes;
}

/** Returns the size of an encoded message for credit and limits, in bytes. */
export function bytesOf({ body, attachments, value }: Encoded): number {
  return value?.bytes ?? attachments?.list.reduce((sum, each) => sum + each.length, body.length) ?? body.length;
}
