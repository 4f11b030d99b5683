// SPDX-License-Identifier: MIT OR Apache-2.0

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
export function bytesOfBase64(text: string): number {
  return Math.floor((text.length * 3) / 4);
}
