// SPDX-License-Identifier: MIT OR Apache-2.0
import { type TransportLimits, transportOptions } from "../channel/transport/limits.js";
import { onPageLeave } from "../channel/transport/page-leave.js";
import { PortChannelTransport, type PortOptions } from "../channel/transport/port.js";
import type { PortEvents, PortLike } from "../channel/transport/port-like.js";
import type { ChannelTransport } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import { Handshake, type Meeting, type WindowLike } from "./handshake.js";
import { opaque, originsOf } from "./origins.js";

export interface WindowOptions extends TransportLimits, Pick<PortOptions, "ring"> {
  /**
   * The origins that may be in the other window: one, or a list. An origin is a scheme, a host and a port, such as
   * `"https://example.com"` or `location.origin`. Messages of other origins are ignored, and nothing is sent to them.
   *
   * `"null"` accepts every opaque origin: a sandboxed frame without `allow-same-origin`, a `data:` URL, a file. It names no page, so
   * whichever opaque page is in the window may connect. `"*"` is refused.
   */
  readonly origin?: string | readonly string[];
  /**
   * Accepts every page that the window may show, now or after a navigation, and hands it a port to this page. Any site that can bring
   * its page into the window can then call this page's handlers. Give it instead of `origin`. Default: false.
   */
  readonly dangerouslyAnyOrigin?: boolean;
  /** Name of the connection. Two connections to one window need different names. Both ends give the same name. Default: "". */
  readonly name?: string;
  /** Maximum time for the other window to connect, in milliseconds. Default: 10,000. Infinity: no limit. */
  readonly openMs?: number;
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
    const post: PortLike["postMessage"] = (message, transfer) => this.#handshake.post(message, transfer);
    super({ postMessage: post }, settings);
    this.#handshake = new Handshake(meeting, (reason) => this.close(reason));
    const own = globalThis.origin;
    this.trusted = own !== opaque && meeting.origins?.every((each) => each === own) === true;
    this.shares = this.trusted && globalThis.crossOriginIsolated === true;
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
