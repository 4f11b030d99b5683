// SPDX-License-Identifier: MIT OR Apache-2.0

import { PortChannelTransport } from "../channel/transport/port.js";
import { listenTo, type PortEvents, type PortLike, type PortOptions } from "../channel/transport/port-like.js";
import { HandedOverPort } from "../channel/transport/port-transports.js";
import {
  type ChannelTransport,
  type CloseReason,
  onPageLeave,
  type TransportLimits,
  transportOptions,
} from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import { clearTimeout, queueMicrotask, type Timer } from "../globals.js";
import { timeLimit } from "../lazy/lazy.js";

// Messages of the handshake between two windows. Each begins with a fixed text, so that other code can use the same window:
//
//   [ "clearway.window", version, "ask", name, from ]           is the other end there?
//   [ "clearway.window", version, "port", name, from, to ]      hands over a MessagePort, from which the receiver reads
//
// `name` is the connection's name. `from` and `to` are random ids of the two ends. See spec/channel.md, "Windows".

const windowMark = "clearway.window";
const windowVersion = 1;

interface WindowMessage {
  readonly kind: "ask" | "port";
  readonly name: string;
  readonly from: string;
  readonly to: string | undefined;
}

/** Returns the message to post. */
function windowMessage({ kind, name, from, to }: WindowMessage): unknown[] {
  return [windowMark, windowVersion, kind, name, from, to];
}

/** Reads a message of any window. Returns undefined for a message that is not of this protocol. */
function readWindowMessage(data: unknown): WindowMessage | undefined {
  if (!Array.isArray(data)) return undefined;
  const [mark, version, kind, name, from, to] = data;
  if (mark !== windowMark || version !== windowVersion || typeof name !== "string" || typeof from !== "string")
    return undefined;
  if (kind === "ask") return { kind, name, from, to: undefined };
  return kind === "port" && typeof to === "string" ? { kind, name, from, to } : undefined;
}

/** The origin of a sandboxed frame, a `data:` URL or a file, as browsers report it. */
const opaque = "null";

/** The origins that may be at the other end. Undefined: any origin. */
type Origins = readonly string[] | undefined;

/** Returns the origins of the options. Throws `invalid-argument`. */
export function originsOf(origin: unknown, anyOrigin: unknown): Origins {
  if (anyOrigin !== undefined && typeof anyOrigin !== "boolean")
    throw invalid("dangerouslyAnyOrigin", "true or false", anyOrigin);
  if (anyOrigin) {
    if (origin === undefined) return undefined;
    throw invalid("origin", "left out with dangerouslyAnyOrigin", origin);
  }
  const origins: unknown[] = Array.isArray(origin) ? [...origin] : [origin];
  if (origins.length === 0) throw invalid("origin", "at least one origin", origin);
  return origins.map(checked);
}

function checked(origin: unknown): string {
  if (origin === "*")
    throw invalid("origin", "a list of origins (dangerouslyAnyOrigin: true accepts every page of the window)", origin);
  if (origin === opaque) return opaque;
  const own = typeof origin === "string" ? originOf(origin) : undefined;
  if (own === origin && own !== undefined) return own;
  const nearest = own === undefined ? 'an origin such as "https://example.com"' : `an origin alone, here "${own}"`;
  throw invalid("origin", nearest, origin);
}

// Returns the origin of a URL. Returns undefined if the URL has no host. `URL.origin` is not enough, because it is "null" for schemes
// of extensions and apps in some browsers.
function originOf(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  return parsed.host ? `${parsed.protocol}//${parsed.host}` : undefined;
}

/** Returns the target for a message to a window of this origin. Only "*" reaches a window whose origin is opaque. */
export function targetOf(origin: string): string {
  return origin === opaque ? "*" : origin;
}

/** The parts of a window that a page of another origin may use, too. */
export interface WindowLike {
  readonly closed: boolean;
  readonly window: unknown;
  /** Posts a message to the window's page, if the page has the origin `targetOrigin`. */
  postMessage(message: unknown, targetOrigin: string, transfer: Transferable[]): void;
}

/** What two windows agree on. */
interface Meeting {
  readonly target: WindowLike;
  readonly origins: Origins;
  readonly name: string;
  readonly openMs: number;
}

// Handshakes that are not over, by window and name. A second one of the same name could take the first one's answer.
const pending = new WeakMap<WindowLike, Map<string, Handshake>>();

/**
 * Exchanges ports with another window. Either window may be first: each asks once, and hands over its port when it hears the other.
 *
 * Each end makes a MessageChannel and hands over one of its ports. It sends through the port that it kept, and receives through the port
 * that it was given. An end can send before the other is there: its messages and the moved memory wait until its port is handed over.
 */
class Handshake {
  readonly #meeting: Meeting;
  readonly #failed: (reason: CloseReason) => void;
  readonly #id = `${Math.random()}${Math.random()}`;
  /** The port through which this end sends. */
  readonly port = new HandedOverPort();
  /** The port that the other end handed over. */
  #received: MessagePort | undefined;
  /** The other end's id. */
  #peer: string | undefined;
  #over = false;
  #closed = false;
  #timer: Timer | undefined;
  #events: PortEvents | undefined;
  #stopPort = (): void => {};
  /** The origin of a page that used the right window and the right name, and that may not connect. */
  #refused: string | undefined;

  /** Throws `invalid-argument` if another handshake with this window has the same name. */
  constructor(meeting: Meeting, failed: (reason: CloseReason) => void) {
    const { target, name } = meeting;
    const names = pending.get(target) ?? new Map<string, Handshake>();
    const earlier = names.get(name);
    if (earlier && !earlier.#closed) throw invalid("name", "of no other handshake with this window", name);
    if (earlier) earlier.#finish();
    pending.set(target, names.set(name, this));
    this.#meeting = meeting;
    this.#failed = failed;
    // If the transport is closed before this microtask, the other window never hears of it.
    queueMicrotask(() => this.#begin());
  }

  /** Receives the channel's messages, as soon as there is a port. Returns a function that stops. */
  listen(events: PortEvents): () => void {
    this.#events = events;
    this.#attach();
    return () => {
      this.#events = undefined;
      this.#stopPort();
    };
  }

  /** Called when the transport has ended. A pending handshake still delivers what the transport has sent. */
  close(): void {
    this.#closed = true;
    if (this.#over) this.#closePorts();
  }

  #begin(): void {
    const { target, origins, openMs } = this.#meeting;
    if (this.#closed) return this.#finish();
    if (target.closed) return this.#fail({ code: "lost", message: "the window is closed" });
    addEventListener("message", this.#event);
    if (openMs !== Number.POSITIVE_INFINITY) this.#timer = timeLimit(openMs, () => this.#tooLate());
    // Each origin gets the question separately, so that no other page learns the connection's name.
    for (const targetOrigin of new Set(origins?.map(targetOf) ?? ["*"]))
      this.#send({ kind: "ask", name: this.#meeting.name, from: this.#id, to: undefined }, targetOrigin, []);
  }

  readonly #event = ({ data, origin, ports, source }: MessageEvent): void => {
    const { target, origins, name } = this.#meeting;
    if (source !== (target as unknown)) return;
    const message = readWindowMessage(data);
    if (message?.name !== name) return;
    if (origins !== undefined && !origins.includes(origin)) {
      this.#refused = origin;
      return;
    }
    if (message.kind === "ask") {
      if (this.#peer !== undefined && this.#peer !== message.from)
        return this.#fail({ code: "lost", message: "the page in the other window was replaced during the handshake" });
      this.#peer = message.from;
      return this.#hand(origin);
    }
    const [port] = ports;
    if (message.to !== this.#id || port === undefined || (this.#peer ?? message.from) !== message.from) return;
    this.#peer = message.from;
    this.#received = port;
    this.#hand(origin);
    if (this.#over) return;
    this.#attach();
    this.#finish();
  };

  #hand(origin: string): void {
    if (this.port.handedOver) return;
    const message: WindowMessage = { kind: "port", name: this.#meeting.name, from: this.#id, to: this.#peer };
    this.port.handOver((given) => this.#send(message, targetOf(origin), [given]));
  }

  #send(message: WindowMessage, targetOrigin: string, transfer: Transferable[]): void {
    try {
      this.#meeting.target.postMessage(windowMessage(message), targetOrigin, transfer);
    } catch (cause) {
      this.#fail({ code: "failed", message: "the window refused a message", cause });
    }
  }

  #attach(): void {
    if (this.#received && this.#events) this.#stopPort = listenTo(this.#received, this.#events);
  }

  #tooLate(): void {
    if (this.#over) return;
    const { target, openMs } = this.#meeting;
    const why = target.closed
      ? "; it is closed"
      : this.#refused === undefined
        ? ""
        : `; its page has the origin ${JSON.stringify(this.#refused)}, which the option origin does not contain`;
    this.#fail({ code: "timeout", message: `the window did not connect within ${openMs} ms${why}` });
  }

  #fail(reason: CloseReason): void {
    this.#finish();
    this.#failed(reason);
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    removeEventListener("message", this.#event);
    clearTimeout(this.#timer);
    const { target, name } = this.#meeting;
    const names = pending.get(target);
    if (names?.get(name) === this) names.delete(name);
    if (this.#closed) this.#closePorts();
  }

  #closePorts(): void {
    this.port.close();
    this.#received?.close();
  }
}

export interface WindowOptions extends TransportLimits, Pick<PortOptions, "ring"> {
  /**
   * The origins that may be in the other window: one, or a list. An origin is a scheme, a host and a port, such as
   * `"https://example.com"` or `location.origin`. Messages of other origins are ignored, and nothing is sent to them.
   *
   * `"null"` accepts every opaque origin: a sandboxed frame without `allow-same-origin`, a `data:` URL, a file. It names no page, so
   * whichever opaque page is in the window may connect. `"*"` is refused.
   */
  readonly origin?: string | readonly string[] | undefined;
  /**
   * Accepts every page that the window may show, now or after a navigation, and hands it a port to this page. Any site that can bring
   * its page into the window can then call this page's handlers. Give it instead of `origin`. Default: false.
   */
  readonly dangerouslyAnyOrigin?: boolean | undefined;
  /** Name of the connection. Two connections to one window need different names. Both ends give the same name. Default: "". */
  readonly name?: string | undefined;
  /** Maximum time for the other window to connect, in milliseconds. Default: 10,000. Infinity: no limit. */
  readonly openMs?: number | undefined;
}

const rules = {
  origin: () => true as const,
  dangerouslyAnyOrigin: () => true as const,
  name: "string",
  openMs: 0,
  ring: ["offer", "accept"],
};

/**
 * Returns a transport to another window: a frame, the parent of a frame, a popup or its opener. Both pages call this function, in any
 * order. Each checks the sender and the origin of every message of the handshake. The handshake hands over ports, which then carry the
 * channel. Attachments are moved. Memory is shared only between pages of one origin that are cross-origin isolated.
 *
 * Frames that are sent before the other page is there arrive when it connects. Pages of one origin trust each other: they receive
 * errors of handlers in full.
 *
 * The transport closes with:
 *
 * - `timeout`, if the other page did not connect within `openMs`. The message says if a page of another origin tried.
 * - `lost`, if the window is closed already, or if its page was replaced during the handshake.
 * - `closed`, if either page was left: it navigated, its frame was removed, or its tab was closed.
 *
 * A page that crashes says nothing. Throws `invalid-argument`.
 */
export function windowTransport(target: WindowLike, options: WindowOptions): ChannelTransport {
  if (!isWindow(target)) throw invalid("target", "another window, such as frame.contentWindow or parent", target);
  const { origin, dangerouslyAnyOrigin, name, openMs, ...settings } = transportOptions(options, rules, {
    name: "",
    openMs: 10_000,
  });
  const origins = originsOf(origin, dangerouslyAnyOrigin);
  const meeting = { target, origins, name: name as string, openMs: openMs as number };
  return new WindowTransport(meeting, settings);
}

// Reads only properties that a window of another origin has, too. A window that is closed has no `window`.
function isWindow(target: unknown): boolean {
  const { closed, window, postMessage } = (target ?? {}) as Partial<WindowLike>;
  return (window === target || closed === true) && typeof postMessage === "function" && target !== globalThis;
}

class WindowTransport extends PortChannelTransport {
  override readonly name = "window";
  override readonly trusted: boolean;
  override readonly shares: boolean;
  readonly #handshake: Handshake;
  readonly #stopWaiting: () => void;

  constructor(meeting: Meeting, settings: PortOptions & Required<TransportLimits>) {
    const post: PortLike["postMessage"] = (message, transfer) => this.#handshake.port.postMessage(message, transfer);
    super({ postMessage: post }, settings);
    this.#handshake = new Handshake(meeting, (reason) => this.close(reason));
    const own = globalThis.origin;
    this.trusted = own !== opaque && meeting.origins?.every((each) => each === own) === true;
    this.shares = this.trusted && typeof SharedArrayBuffer === "function";
    this.#stopWaiting = onPageLeave((reason) => this.close(reason));
  }

  protected override listen(_: PortLike, events: PortEvents): () => void {
    return this.#handshake.listen(events);
  }

  protected override disconnect(): void {
    this.#stopWaiting();
    this.#handshake.close();
  }
}
