// SPDX-License-Identifier: MIT OR Apache-2.0
// What a mechanism needs from its host, in a browser. Node's twin is node.ts; the build picks one as #lab-host.
import type { Endpoint } from "comlink";
import { type Progress, type Upload, uploadOf } from "../isolate/upload-source.js";
import type { Work } from "../mechanism/measured.js";
import type { LabParent, LabWorker, PortEnd } from "./port.js";

export const hostName = "chromium" as const;

/** The host's own serializer: a page has none but the structured clone. */
export const serializer = undefined;

/** A page cannot see its own allocations. */
export async function allocatedBy(_work: () => unknown): Promise<undefined> {}

/** Milliseconds comparable across the page's threads: each thread's own origin plus its own clock. Steps of 5 us when isolated. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

// A message to oneself is the shortest way round the event loop: a timer is clamped to 4 ms, a microtask does not yield.
const loop = new MessageChannel();
const waiting: (() => void)[] = [];
loop.port2.onmessage = () => waiting.shift()?.();

/** Lets the event loop turn once, without sleeping. */
export function turn(): Promise<void> {
  return new Promise((done) => {
    waiting.push(done);
    loop.port1.postMessage(0);
  });
}

/** URL of a worker's built file; every entry stands in one flat folder. */
export function workerUrl(name: string): URL {
  return new URL(`./work-${name}.js`, import.meta.url);
}

/** Starts a worker by hand, as the reference mechanisms do. The caller ends it. */
export function openWorker(name: string): LabWorker {
  const worker = new Worker(workerUrl(name), { type: "module" });
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    listen: (receive) => worker.addEventListener("message", (event) => receive(event.data)),
    onEnd: () => {},
    end: async () => worker.terminate(),
    endpoint: () => worker as Endpoint,
  };
}

/** The other end of openWorker, inside the worker. */
export function parent(): LabParent {
  const scope = globalThis as unknown as Worker;
  return {
    post: (message, transfer = []) => scope.postMessage(message, transfer),
    listen: (receive) => scope.addEventListener("message", (event) => receive(event.data)),
    endpoint: () => scope as unknown as Endpoint,
  };
}

/** One end of a MessageChannel, in whichever thread it is. */
export function portEnd(port: MessagePort): PortEnd {
  return {
    port,
    post: (message, transfer = []) => port.postMessage(message, transfer),
    listen: (receive) => {
      port.onmessage = (event) => receive(event.data);
    },
    endpoint: () => port as Endpoint,
    close: () => port.close(),
  };
}

/** A page's worker cannot crash by itself in a way the page could see; see the pool scenario. */
export function crash(): never {
  throw new Error("a worker in a page has no process to exit");
}

/** A file of the cell's size as a Blob, which crosses to a worker by reference. */
export function openUpload(work: Work): Upload {
  const upload = uploadOf(work, "");
  return { ...upload, source: new Blob([new Uint8Array(upload.bytes).fill(7)]) };
}

/**
 * Sends the Blob a slice at a time, one POST each: over HTTP/1.1 Chromium has no streamed request bodies. Calls
 * `progress` after each chunk was confirmed. Resolves to the bytes that the server confirmed.
 */
export async function sendInChunks(
  upload: Upload,
  progress: (progress: Progress) => void,
  signal?: AbortSignal,
): Promise<number> {
  let receivedBytes = 0;
  for (let from = 0; from < upload.bytes; from += upload.chunkBytes) {
    const to = Math.min(from + upload.chunkBytes, upload.bytes);
    const body = await (upload.source as Blob).slice(from, to).arrayBuffer();
    const response = await fetch(upload.url, { method: "POST", body, ...(signal ? { signal } : {}) });
    receivedBytes += ((await response.json()) as { receivedBytes: number }).receivedBytes;
    progress({ sentBytes: to });
  }
  return receivedBytes;
}
