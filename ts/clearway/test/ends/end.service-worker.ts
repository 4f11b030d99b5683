// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the page of a test, and does with its latest transport what the test asks for, over the latest port that the test has sent.
import "../fixtures/build-constants.js";
import { serveServiceWorker } from "../../src/service-worker.js";
import { obey } from "./remote-end.js";

let control: MessagePort | undefined;
addEventListener("message", ({ data, ports }: MessageEvent) => {
  if (data === "control") control = ports[0];
});
serveServiceWorker((transport) => obey(control!, transport), { frameBytesMax: 1 << 20 });
