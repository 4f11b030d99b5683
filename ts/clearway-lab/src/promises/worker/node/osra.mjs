// SPDX-License-Identifier: MIT OR Apache-2.0
import { parentPort } from "node:worker_threads";
import { expose } from "osra";

parentPort.once("message", (port) => expose({ double: (value) => value * 2 }, { transport: port }));
