// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser's functions for mechanisms. Node's counterpart is node.ts; the build picks one as #lab-host.
import type { Endpoint } from "comlink";
import type { Work } from "../protocol/measured.js";
import type { LabParent, LabWorker, PortEnd } from "./port.js";
import { type Progress, type Upload, uploadOf } from "./upload-source.js";

export const hostName = "chromium" as const;

/** The host's own serializer: a page has only the structured clone. */
export const serializer = undefined;

/** A page cannot count its own allocations. */
export async function allocatedBy(_work: () => unknown): Promise<undefined> {}

/**
 * Returns milliseconds comparable across the page's threads: each thread's own origin plus its own clock. Steps of 5 us when
 * isolated.
 */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

// A message to the own thread is the shortest way around the event loop: a timer is clamped to 4 ms, and a microtask does not
// yield.
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

/** Returns the URL of a worker's built file; all entries are in one flat folder. */
export function workerUrl(name: string): URL {
  return new URL(`./work-${name}.js`, import.meta.url);
}

/** Starts a bare worker, for the reference mechanisms. The caller ends it. */
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

/** Returns the worker's end of openWorker. For use inside the worker. */
export function parent(): LabParent {
  const scope = globalThis as unknown as Worker;
  return {
    post: (message, transfer = []) => scope.postMessage(message, transfer),
    listen: (receive) => scope.addEventListener("message", (event) => receive(event.data)),
    endpoint: () => scope as unknown as Endpoint,
  };
}

/** Wraps one end of a MessageChannel, in any thread. */
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

/** Throws: a worker in a page cannot crash in a way that the page could detect; see the pool scenario. */
export function crash(): never {
  throw new Error("a worker in a page has no process to exit");
}

/** Returns a file of the cell's size as a Blob, which crosses to a worker by reference. */
export function openUpload(work: Work): Upload {
  const upload = uploadOf(work, "");
  return { ...upload, source: new Blob([new Uint8Array(upload.bytes).fill(7)]) };
}

/**
 * Sends the Blob slice by slice, one POST each, because Chromium cannot stream request bodies over HTTP/1.1. Calls `progress`
 * after each chunk was confirmed. Resolves to the number of bytes that the server confirmed.
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
