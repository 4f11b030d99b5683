// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  type ChannelSink,
  type ChannelTransport,
  type CloseReason,
  checkFrame,
  closedHere,
  frameTooLarge,
  messageBytes,
  readReason,
  SendWindow,
  type TransportLimits,
  transportOptions,
  windowBytesOf,
} from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import { queueMicrotask } from "../globals.js";

// Messages of a channel over an extension's port, which carries JSON. Each begins with a fixed text:
//
//   [ "clearway.extension", "frame", base64 ]                      a frame, or its last part
//   [ "clearway.extension", "asking", base64 ]                     the same; the receiver must report the bytes it took
//   [ "clearway.extension", "part", base64 ]                       a part of a frame; more parts follow
//   [ "clearway.extension", "taken", bytes ]                       bytes taken since the last report; each frame counts 8 bytes
//                                                                  more than it has
//   [ "clearway.extension", "close", { code, message, detail } ]   the sender has closed
//
// See spec/channel.md, "Extensions".

const extensionMark = "clearway.extension";

type ExtensionMessage =
  | { readonly kind: "frame" | "asking" | "part"; readonly text: string }
  | { readonly kind: "taken"; readonly bytes: number }
  | { readonly kind: "close"; readonly reason: unknown };

/** Reads a message. Returns undefined for a message that is not of this protocol, and `null` for one that breaks it. */
function readExtensionMessage(given: unknown): ExtensionMessage | null | undefined {
  if (!Array.isArray(given) || given[0] !== extensionMark) return undefined;
  const [, kind, value] = given;
  if (kind === "close") return { kind, reason: value };
  if (kind === "taken") return Number.isSafeInteger(value) && value >= 0 ? { kind, bytes: value } : null;
  if (kind !== "frame" && kind !== "asking" && kind !== "part") return null;
  return typeof value === "string" ? { kind, text: value } : null;
}

// A browser refuses a message of 64 MiB or more, and blocks its thread while it converts a large one. Parts of 3 MiB become messages of
// 4 MiB. The number is a multiple of 3, so that only a frame's last part is padded.
const partBytesMax = 3 << 20;
// Smaller parts are refused, because each of them takes memory beside its bytes.
const partBytesMin = 64 << 10;

/** The parts of an extension's event that Clearway uses. */
export interface ExtensionEvent<Listener> {
  /** Calls `listener` for each event. */
  addListener(listener: Listener): void;
  /** Stops the calls of `listener`. */
  removeListener(listener: Listener): void;
}

/** The parts of an extension's port (`chrome.runtime.Port`, `browser.runtime.Port`) that Clearway uses. */
export interface ExtensionPort {
  /** Posts a message as JSON. */
  postMessage(message: unknown): void;
  /** Closes both ends. This end gets no `onDisconnect`. */
  disconnect(): void;
  /** A message of the other end has arrived. */
  readonly onMessage: ExtensionEvent<(message: never) => void>;
  /** The other end has closed the port, or is gone. */
  readonly onDisconnect: ExtensionEvent<(port: never) => void>;
}

/**
 * Returns a transport over a port between two parts of a browser extension, such as a content script and the service worker. Both ends
 * call this function as soon as they have the port, because browsers drop messages without a listener. Takes ownership of the port.
 *
 * Such ports carry JSON. A frame crosses as base64, in messages of at most 4 MiB, because browsers refuse messages of 64 MiB. Nothing is
 * moved or shared. The ends do not trust each other: a content script runs in the process of a page.
 *
 * The transport closes with:
 *
 * - `failed`, if no part of the extension listens. `cause` has the browser's message.
 * - `lost`, if the port was disconnected: the page was left, the service worker was stopped, or the extension was reloaded.
 * - `closed`, if the other end closed.
 *
 * Throws `invalid-argument`.
 */
export function extensionTransport(port: ExtensionPort, options: TransportLimits = {}): ChannelTransport {
  if (typeof port?.postMessage !== "function" || typeof port.onMessage?.addListener !== "function")
    throw invalid("port", "a port of chrome.runtime.connect() or onConnect", port);
  return new ExtensionTransport(port, transportOptions(options));
}

class ExtensionTransport implements ChannelTransport {
  readonly name = "extension";
  readonly moves = false;
  readonly shares = false;
  readonly frameBytesMax: number;
  readonly #windowBytes: number;
  readonly #port: ExtensionPort;
  readonly #out: SendWindow;
  #sink: ChannelSink | undefined;
  /** Messages that arrived before `open`, or while the sink was paused. */
  #early: ExtensionMessage[] = [];
  /** Number of messages at the front of `early` that were delivered. A long list would take long to move at each message. */
  #delivered = 0;
  #earlyBytes = 0;
  #paused = false;
  /** Parts of the frame that is arriving. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #taken = 0;
  #heard = false;
  /** The reason of the end. It is delivered after the messages that arrived before it. */
  #reason: CloseReason | undefined;
  #closedHere = false;
  #closedReported = false;
  #scheduled = false;

  constructor(port: ExtensionPort, { frameBytesMax, windowBytes }: Required<TransportLimits>) {
    this.#port = port;
    this.frameBytesMax = frameBytesMax;
    this.#windowBytes = windowBytes;
    this.#out = new SendWindow(windowBytes);
    port.onMessage.addListener(this.#message);
    port.onDisconnect.addListener(this.#disconnected);
  }

  open(sink: ChannelSink): void {
    if (this.#sink !== undefined) throw invalid("sink", "given once", "open() was called before");
    this.#sink = sink;
    this.#schedule();
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = []): boolean {
    checkFrame(frame, attachments, this);
    if (this.#reason !== undefined) return false;
    const asks = this.#out.sent(windowBytesOf(frame, attachments));
    let at = 0;
    for (; frame.byteLength - at > partBytesMax; at += partBytesMax)
      this.#post("part", toBase64(frame.subarray(at, at + partBytesMax)));
    this.#post(asks ? "asking" : "frame", toBase64(at === 0 ? frame : frame.subarray(at)));
    return this.#reason === undefined && this.#out.room;
  }

  pause(): void {
    this.#paused = this.#reason === undefined;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  close(reason: CloseReason = closedHere): void {
    if (this.#reason !== undefined) {
      // The other end has closed, and frames of it still wait. This end wants no more of them.
      this.#closedHere = true;
      return;
    }
    const { code, message, detail } = reason;
    this.#closedHere = true;
    this.#post("close", { code, message, detail });
    this.#end(reason);
  }

  #post(kind: string, value: unknown): void {
    if (this.#reason !== undefined) return;
    try {
      this.#port.postMessage([extensionMark, kind, value]);
    } catch (cause) {
      // The port was disconnected, or the extension was reloaded under a content script.
      this.#end({ code: "lost", message: "the port is disconnected", cause });
    }
  }

  readonly #message = (given: unknown): void => {
    const message = readExtensionMessage(given);
    if (message === undefined || this.#reason !== undefined) return;
    this.#heard = true;
    if (message === null) return this.close(garbled);
    // Only frames count and wait. A report makes room for frames to send, also while the sink is paused.
    if (message.kind === "taken") {
      if (this.#out.taken(message.bytes)) this.#sink?.drained();
      return;
    }
    if (message.kind === "close") return this.#end(readReason(message.reason));
    this.#early.push(message);
    this.#earlyBytes += bytesOfBase64(message.text) + messageBytes;
    // A sender that respects its window stops long before. It counts 8 bytes for each message.
    const most = 2 * (this.frameBytesMax + (messageBytes / 8) * this.#windowBytes);
    if (this.#earlyBytes > most && (this.#paused || this.#sink === undefined))
      return this.close({ code: "too-large", message: `${this.#earlyBytes} bytes arrived while no frame was taken` });
    if (this.#sink !== undefined) this.#deliver();
  };

  readonly #disconnected = (): void => {
    const error = disconnectError(this.#port);
    const message = error ?? "the port was disconnected";
    this.#end({
      code: error !== undefined && !this.#heard ? "failed" : "lost",
      message,
      ...(error !== undefined && { cause: new Error(error) }),
    });
  };

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  /** Delivers waiting frames to the sink, then the end if the transport has ended. */
  #deliver(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#closedReported) return;
    while (!this.#paused && !this.#closedHere) {
      const message = this.#early[this.#delivered];
      if (message === undefined || message.kind === "taken" || message.kind === "close") break;
      if (++this.#delivered * 2 > this.#early.length) {
        this.#early = this.#early.slice(this.#delivered);
        this.#delivered = 0;
      }
      this.#earlyBytes -= bytesOfBase64(message.text) + messageBytes;
      this.#take(message.text, message.kind, sink);
    }
    if (this.#reason === undefined || (this.#early.length > 0 && !this.#closedHere)) return;
    this.#closedReported = true;
    sink.closed(this.#reason);
  }

  #take(text: string, kind: "frame" | "asking" | "part", sink: ChannelSink): void {
    const bytes = this.#partBytes + bytesOfBase64(text);
    // The size of a text is up to 2 bytes larger than its bytes.
    if (bytes > this.frameBytesMax + 2)
      return this.close({ code: "too-large", message: frameTooLarge(bytes, this.frameBytesMax).message });
    const part = fromBase64(text);
    if (part === undefined || (kind === "part" && part.byteLength < partBytesMin)) return this.close(garbled);
    if (kind === "part") {
      this.#parts.push(part);
      this.#partBytes += part.byteLength;
      return;
    }
    const frame = this.#parts.length === 0 ? part : joined([...this.#parts.splice(0), part]);
    this.#partBytes = 0;
    if (frame.byteLength > this.frameBytesMax)
      return this.close({ code: "too-large", message: frameTooLarge(frame.byteLength, this.frameBytesMax).message });
    this.#taken += windowBytesOf(frame, []);
    sink.frame(frame, []);
    if (kind !== "asking") return;
    this.#post("taken", this.#taken);
    this.#taken = 0;
  }

  #end(reason: CloseReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#paused = false;
    this.#port.onMessage.removeListener(this.#message);
    this.#port.onDisconnect.removeListener(this.#disconnected);
    try {
      this.#port.disconnect();
    } catch {
      // A port of an extension that was reloaded throws. It is disconnected already.
    }
    this.#schedule();
  }
}

const garbled: CloseReason = { code: "protocol", message: "a message that is not of this protocol" };

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}

interface Runtime {
  readonly runtime?: { readonly lastError?: { readonly message?: string } };
}

// Returns the browser's message for a disconnection. Reading it also tells Chrome that the app has seen it. Firefox has it on the port.
function disconnectError(port: ExtensionPort): string | undefined {
  const { error } = port as { error?: { message?: string } | null };
  const { chrome } = globalThis as { chrome?: Runtime };
  return chrome?.runtime?.lastError?.message ?? error?.message;
}

interface Base64Array extends Uint8Array<ArrayBuffer> {
  toBase64?(): string;
}

type Base64Class = typeof Uint8Array & { fromBase64?(text: string): Uint8Array<ArrayBuffer> };

// Number of bytes that become characters at once. `apply` takes a limited number of arguments; 32 Ki are safe in every browser. It is a
// multiple of 3, so that the parts can be joined.
const partBytes = 3 * 10_922;

/** Returns bytes as base64. Copies them. */
export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as Base64Array).toBase64;
  if (typeof native === "function") return native.call(bytes);
  let text = "";
  for (let at = 0; at < bytes.length; at += partBytes)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + partBytes)));
  return text;
}

/** Returns the bytes of a base64 text, in memory of their own. Returns undefined if the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const native = (Uint8Array as Base64Class).fromBase64;
    if (typeof native === "function") return native.call(Uint8Array, text);
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
    return bytes;
  } catch {
    return undefined;
  }
}

/** Returns the number of bytes that a base64 text has at most. */
function bytesOfBase64(text: string): number {
  return Math.floor((text.length * 3) / 4);
}
