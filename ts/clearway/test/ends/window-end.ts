// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in a frame of a test: connects to the parent, and does what the test asks for.
import "../fixtures/build-constants.js";
import { windowTransport } from "../../src/browser/window.js";
import { obey } from "./remote-end.js";

const { control, ...options } = JSON.parse(document.body.dataset["options"] ?? "{}");
const { port1, port2 } = new MessageChannel();
parent.postMessage(control, globalThis.origin, [port2]);
obey(port1, windowTransport(parent, { origin: globalThis.origin, ...options }));
