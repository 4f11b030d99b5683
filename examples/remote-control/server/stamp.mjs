// SPDX-License-Identifier: MIT OR Apache-2.0
// The first 64 bytes of a frame are not pixels but a stamp that identifies the frame. The native frame source uses the same layout.

export const stampBytes = 64;
const magic = 0x31464c43;

/**
 * @typedef {object} Stamp
 * @property {number} number number of the frame. Every drawn frame counts, so a gap shows dropped frames.
 * @property {number} command the last command that is visible in the frame, 0 before the first
 * @property {number} x position of the pointer, in pixels
 * @property {number} y
 * @property {number} buttons as `PointerEvent.buttons`
 * @property {number} drawnMs time that drawing took, in milliseconds
 * @property {number} beganMs start of drawing, in milliseconds of the system's monotonic clock
 */

/** @param {Uint8Array} frame @returns {Stamp} */
export function readStamp(frame) {
  if (frame.byteLength < stampBytes) throw new RangeError(`no frame: it has ${frame.byteLength} bytes`);
  const view = new DataView(frame.buffer, frame.byteOffset, stampBytes);
  if (view.getUint32(0, true) !== magic) throw new RangeError("no frame: it has no stamp");
  return {
    number: view.getUint32(4, true),
    command: view.getUint32(8, true),
    x: view.getInt32(12, true),
    y: view.getInt32(16, true),
    buttons: view.getUint32(20, true),
    drawnMs: Number(view.getBigUint64(24, true)) / 1e6,
    beganMs: Number(view.getBigUint64(32, true)) / 1e6,
  };
}

/** @param {Uint8Array} frame @param {Stamp} stamp */
export function writeStamp(frame, stamp) {
  const view = new DataView(frame.buffer, frame.byteOffset, stampBytes);
  view.setUint32(0, magic, true);
  view.setUint32(4, stamp.number, true);
  view.setUint32(8, stamp.command, true);
  view.setInt32(12, stamp.x, true);
  view.setInt32(16, stamp.y, true);
  view.setUint32(20, stamp.buttons, true);
  view.setBigUint64(24, BigInt(Math.round(stamp.drawnMs * 1e6)), true);
  view.setBigUint64(32, BigInt(Math.round(stamp.beganMs * 1e6)), true);
}

/** Returns a time of the system's monotonic clock, in milliseconds. Native code reads the same clock. */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;
