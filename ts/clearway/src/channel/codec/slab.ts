// SPDX-License-Identifier: MIT OR Apache-2.0

// In Node 20 a new ArrayBuffer costs as much as encoding a small message (0.5 us, and the collector's work behind it), and each call
// made four of them. So what is small and leaves at once, or is copied on, stands with others in one. A part that is kept keeps
// the whole slab; Node's own pool of Buffers is as large.
const slabBytes = 8192;
const partBytesMax = 1024;

let slab: Uint8Array<ArrayBuffer> | undefined;
let used = 0;

/** So many bytes, zero, whose memory may be a part of a larger buffer. Begins at a multiple of 8. Never written to again by others. */
export function smallBytes(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > partBytesMax) return new Uint8Array(bytes);
  if (slab === undefined || used + bytes > slabBytes) {
    slab = new Uint8Array(slabBytes);
    used = 0;
  }
  const at = used;
  used = (at + bytes + 7) & ~7;
  return slab.subarray(at, at + bytes);
}
