// SPDX-License-Identifier: MIT OR Apache-2.0
import { isUntransferable } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import type { AttachmentSink } from "../codec/out-of-band.js";
import { isShared } from "../transport/limits.js";
import type { ChannelCopyReason } from "./ledger.js";

/** How large lists of a message leave. */
export interface AttachmentRules {
  /** Lists of at least this many bytes become attachments. */
  readonly bytesMin: number;
  /** The transport moves memory. If false, the bytes of attachments are written into the frame. */
  readonly moves: boolean;
  readonly shares: boolean;
  /** Throw instead of copying an attachment. */
  readonly strict: boolean;
}

/** Who gives a list away: `move`, the caller with `move()`; `result`, the handler or the source of events; `kept`, no one. */
export type Giving = "kept" | "result" | "move";

// With more attachments a message would spend its time on them; further lists stay in the message. The head has room for 65,535.
const attachmentsMax = 1024;

/** Collects one message's attachments and how their memory crosses. An instance without attachments can be used for the next message. */
export class Attachments implements AttachmentSink {
  readonly list: Uint8Array[] = [];
  readonly copies: [reason: ChannelCopyReason, bytes: number][] = [];
  movedBytes = 0;
  sharedBytes = 0;
  /** Who gives the message's lists away. */
  giving: Giving = "kept";
  readonly #rules: AttachmentRules;
  /** Attachment numbers by buffer: a buffer that occurs twice in a message becomes one attachment. */
  #taken: Map<ArrayBufferLike, number> | undefined;

  constructor(rules: AttachmentRules) {
    this.#rules = rules;
  }

  take(view: ArrayBufferView): number {
    const { moves, shares } = this.#rules;
    const { buffer, byteLength } = view;
    const move = this.giving === "move";
    // With move() even small lists become attachments: nothing may be copied.
    if ((byteLength < this.#rules.bytesMin && !move) || byteLength === 0 || this.list.length >= attachmentsMax)
      return -1;
    if (!moves) return this.#copy(view, "byte-transport");
    if (isShared(buffer)) return shares ? this.#share(view) : this.#copy(view, "not-transferable");
    if (this.giving === "kept") return this.#copy(view, "not-moved");
    if (byteLength !== buffer.byteLength) return this.#copy(view, "partial-view");
    const before = this.#taken?.get(buffer);
    if (before !== undefined) return before;
    if (isUntransferable(buffer)) return this.#copy(view, "not-transferable");
    this.movedBytes += byteLength;
    this.#taken ??= new Map();
    this.#taken.set(buffer, this.list.length);
    return this.list.push(new Uint8Array(buffer)) - 1;
  }

  #share({ buffer, byteOffset, byteLength }: ArrayBufferView): number {
    this.sharedBytes += byteLength;
    return this.list.push(new Uint8Array(buffer, byteOffset, byteLength)) - 1;
  }

  // A transport of bytes needs no copy here: writing the frame makes it.
  #copy({ buffer, byteOffset, byteLength }: ArrayBufferView, reason: ChannelCopyReason): number {
    if (this.giving === "move" || this.#rules.strict) throw wouldCopy(reason, byteLength);
    this.copies.push([reason, byteLength]);
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    return this.list.push(reason === "byte-transport" ? bytes : new Uint8Array(bytes)) - 1;
  }
}

/** Returns the error for memory that had to be moved and cannot. */
export function wouldCopy(reason: ChannelCopyReason, bytes: number): ClearwayError {
  return new ClearwayError("would-copy", `${bytes} bytes would have been copied (${reason})`);
}
