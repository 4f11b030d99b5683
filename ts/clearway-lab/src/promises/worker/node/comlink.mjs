// SPDX-License-Identifier: MIT OR Apache-2.0
import { parentPort } from "node:worker_threads";
import { expose } from "comlink";
import nodeEndpoint from "comlink/dist/esm/node-adapter.mjs";

expose({ double: (value) => value * 2 }, nodeEndpoint(parentPort));
