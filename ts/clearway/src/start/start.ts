// SPDX-License-Identifier: MIT OR Apache-2.0
// The file `start.mjs`: a worker whose task module is TypeScript starts with it. Registers the loader that the app uses, then imports the
// task module. A worker that starts with JavaScript never loads this file.

import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import { setImmediate } from "../globals.js";
import { ordersKey, type StartOrders } from "../host/node/task-module.js";
import { loadTaskModule } from "./load.js";

const orders = getEnvironmentData(ordersKey) as unknown as StartOrders;
// The workers that this worker starts must not inherit the orders.
setEnvironmentData(ordersKey, undefined);
// Without a top-level `await`, because Node would name this file if the task module's own never settled. Thrown outside of the promise,
// because an app may configure that Node ignores unhandled rejections.
loadTaskModule(orders).catch((reason) => {
  setImmediate(() => {
    throw reason;
  });
});
