// SPDX-License-Identifier: MIT OR Apache-2.0
import * as Comlink from "comlink";
import type { Jobs } from "./comlink.worker.js";
import type { Way } from "./way.js";

const worker = new Worker(new URL("./comlink.worker.js", import.meta.url), { type: "module" });
const jobs = Comlink.wrap<Jobs>(worker);

export const comlink: Way = {
  ready: async () => void (await jobs.students(1)),
  students: (count) => jobs.students(count),
  photo: (url) => jobs.photo(url),
  // Comlink passes a callback as a proxy. The proxy lives until it is released.
  upload: (file, url, onProgress) => jobs.upload(file, url, Comlink.proxy(onProgress)),
};
