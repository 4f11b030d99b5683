// SPDX-License-Identifier: MIT OR Apache-2.0
// The minimal worker: it receives an id and a number, and returns the id with the doubled number.
import { parentPort } from "node:worker_threads";

parentPort.on("message", ({ id, value }) => parentPort.postMessage({ id, value: value * 2 }));
