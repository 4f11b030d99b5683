// SPDX-License-Identifier: MIT OR Apache-2.0

// Messages of the handshake between two windows. Each begins with a fixed text, so that other code can use the same window:
//
//   [ "clearway.window", version, "ask", name, from ]           is the other end there?
//   [ "clearway.window", version, "port", name, from, to ]      hands over a MessagePort, from which the receiver reads
//
// `name` is the connection's name. `from` and `to` are random ids of the two ends. See spec/channel.md, "Windows".

export const windowMark = "clearway.window";
export const windowVersion = 1;

export interface WindowMessage {
  readonly kind: "ask" | "port";
  readonly name: string;
  readonly from: string;
  readonly to: string | undefined;
}

/** Returns the message to post. */
export function windowMessage({ kind, name, from, to }: WindowMessage): unknown[] {
  return [windowMark, windowVersion, kind, name, from, to];
}

/** Reads a message of any window. Returns undefined for a message that is not of this protocol. */
export function readWindowMessage(data: unknown): WindowMessage | undefined {
  if (!Array.isArray(data)) return undefined;
  const [mark, version, kind, name, from, to] = data;
  if (mark !== windowMark || version !== windowVersion || typeof name !== "string" || typeof from !== "string")
    return undefined;
  if (kind === "ask") return { kind, name, from, to: undefined };
  return kind === "port" && typeof to === "string" ? { kind, name, from, to } : undefined;
}
