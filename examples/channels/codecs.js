// SPDX-License-Identifier: MIT OR Apache-2.0
// #region message
import { extension, float64, isCodecError, standardMessageCodec, standardMethodCodec } from "clearway/channel";

const message = standardMessageCodec.encode({ name: "Zoë", level: 0.5, pixels: new Uint8Array([255, 0, 0]) });
console.log(message.length, "bytes");
console.log(standardMessageCodec.decode(message));
// #endregion message

// #region floats
// A receiver in Dart, Kotlin or Swift distinguishes int and double.
console.log(standardMessageCodec.encode(1)[0], standardMessageCodec.encode(float64(1))[0]); // type 3 is int32, type 6 is float64
// #endregion floats

// #region methods
const { call, reply } = standardMethodCodec;
const asked = call.decode(call.encode({ method: "batteryLevel", args: null }));
console.log(asked.method, asked.args);

const failed = reply.encode({ kind: "error", code: "UNAVAILABLE", message: "no battery", details: null });
const answer = reply.decode(failed);
if (answer.kind === "success") console.log(answer.value);
else if (answer.kind === "error") console.log(answer.code, answer.message);
else console.log("not implemented, or no handler");
// #endregion methods

// #region extension
class Point {
  /**
   * @param {number} x
   * @param {number} y
   */
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
}

const withPoints = standardMessageCodec.with({
  extensions: [
    extension({
      tag: 128,
      type: Point,
      /** @param {Point} point */
      write(point, writer) {
        writer.float64(point.x);
        writer.float64(point.y);
      },
      read: (reader) => new Point(reader.float64(), reader.float64()),
    }),
  ],
});
console.log(withPoints.decode(withPoints.encode([new Point(1, 2)])));
// #endregion extension

// #region into
const slab = new Uint8Array(64); // or shared memory
const size = standardMessageCodec.encodeInto(["a", 1], slab, 8);
if (size < 0) console.log("does not fit");
else console.log(standardMessageCodec.decode(slab.subarray(8, 8 + size)));
// #endregion into

// #region owned
const frame = standardMessageCodec.encode({ at: 17, pixels: new Uint8Array(1_000_000) });
const value = standardMessageCodec.decode(frame, { owned: true }); // the bytes now belong to the value
const read = /** @type {{ pixels: Uint8Array }} */ (value);
console.log(read.pixels.buffer === frame.buffer); // true: `pixels` is a view of the message, not a copy
// #endregion owned

// #region refused
try {
  standardMessageCodec.decode(message.subarray(0, 20));
} catch (error) {
  if (!isCodecError(error)) throw error;
  console.log(error.code, error.offset);
}
// #endregion refused
