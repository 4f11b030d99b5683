// SPDX-License-Identifier: MIT OR Apache-2.0
import { answer } from "../students-make.mjs";

addEventListener("message", ({ data }) => answer(data, (message, transfer) => postMessage(message, transfer)));
