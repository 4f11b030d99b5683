// SPDX-License-Identifier: MIT OR Apache-2.0
// #region camera
import { setTimeout as pause } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { connect, portTransport, RemoteError } from "clearway/channel";

if (parentPort === null) throw new Error("run camera.js");
const app = await connect(portTransport(parentPort));

app.methods("camera").handle({
  /** @param {number} level */
  zoom(level) {
    if (level > 8) throw new RemoteError("OUT_OF_RANGE", `no zoom of ${level}`, { details: { max: 8 } });
    return level;
  },
  /** @param {Uint8Array} pixels */
  invert: (pixels) => pixels.map((each) => 255 - each), // the result is moved, not copied
});

app.events("camera/frames").serve(async (_, sink) => {
  for (let number = 0; !sink.signal.aborted; number++) {
    await sink.send({ number, pixels: new Uint8Array(1 << 20) }); // send() does not wait for a listener with latest()
    await pause(1);
  }
});
// #endregion camera

app.messages("log").post("the camera is on");
