// SPDX-License-Identifier: MIT OR Apache-2.0
import { parentPort } from "node:worker_threads";
import { answer } from "../students-make.mjs";

parentPort.on("message", (request) =>
  answer(request, (message, transfer) => parentPort.postMessage(message, transfer)),
);
