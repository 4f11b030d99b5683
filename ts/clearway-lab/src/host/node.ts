// SPDX-License-Identifier: MIT OR Apache-2.0
// Node's functions for mechanisms. The browser's counterpart is browser.ts; the build picks one as #lab-host.
import { createReadStream } from "node:fs";
import http from "node:http";
import { pipeline } from "node:stream";
import v8 from "node:v8";
import { type MessagePort as NodePort, parentPort, Worker } from "node:worker_threads";
import type { Endpoint } from "comlink";
import nodeEndpoint from "comlink/dist/esm/node-adapter.mjs";
import type { Work } from "../protocol/measured.js";
import { type LabParent, type LabWorker, type PortEnd, type Progress, type Upload, uploadOf } from "./common.js";

export const hostName = "node" as const;

/** Node's own serializer. A page has none that returns bytes. */
export const serializer = {
  encode: (value: unknown): Uint8Array => v8.serialize(value),
  decode: (message: Uint8Array): unknown => v8.deserialize(message),
  size: (message: Uint8Array): number => message.length,
};

/**
 * Returns a time of the system's monotonic clock, in milliseconds. All threads and processes share this clock, unlike
 * `performance.now()`.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Lets the event loop turn once, without sleeping. */
export function turn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** Returns the URL of a worker's built file. The build writes all workers into one flat folder. */
export function workerUrl(name: string): URL {
  return new URL(`./work-${name}.js`, import.meta.url);
}

/** Starts a worker without Clearway, for the reference mechanisms. The caller ends it. */
export function openWorker(name: string): LabWorker {
  const worker = new Worker(workerUrl(name));
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer as never),
    listen: (receive) => {
      worker.on("message", receive);
    },
    onEnd: (ended) => {
      worker.once("exit", ended);
    },
    end: async () => {
      await worker.terminate();
    },
    endpoint: () => nodeEndpoint(worker) as Endpoint,
  };
}

/** Returns the other end of `openWorker`. Call it inside the worker; it throws on the main thread. */
export function parent(): LabParent {
  const port = parentPort;
  if (port === null) throw new Error("not in a worker: parentPort=null");
  return {
    post: (message, transfer = []) => port.postMessage(message, transfer as never),
    listen: (receive) => {
      port.on("message", receive);
    },
    endpoint: () => nodeEndpoint(port) as Endpoint,
  };
}

/** Wraps one end of a MessageChannel. Works in any thread. */
export function portEnd(port: MessagePort): PortEnd {
  // Node's port has both interfaces, so the cast keeps the same object.
  const nodePort = port as unknown as NodePort;
  return {
    port,
    post: (message, transfer = []) => nodePort.postMessage(message, transfer as never),
    listen: (receive) => {
      nodePort.on("message", receive);
    },
    endpoint: () => nodeEndpoint(nodePort) as Endpoint,
    close: () => nodePort.close(),
  };
}

/** Returns an upload of the fixture's file, cut to the cell's size. */
export function openUpload(work: Work): Upload {
  return uploadOf(work, work.fixture.filePath);
}

/**
 * Streams the file in one request, a chunk at a time, under the back-pressure of the socket. Calls `progress` when a chunk has
 * been read and passed to the request. Resolves to the number of bytes that the server confirmed.
 */
export function sendInChunks(
  upload: Upload,
  progress: (progress: Progress) => void,
  signal?: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-length": String(upload.bytes), "content-type": "application/octet-stream" };
    const request = http.request(upload.url, { method: "POST", headers, ...(signal ? { signal } : {}) });
    request.on("error", reject);
    request.on("response", (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => (answer += text));
      response.on("end", () => resolve((JSON.parse(answer) as { receivedBytes: number }).receivedBytes));
    });
    let sentBytes = 0;
    const file = createReadStream(upload.source as string, { highWaterMark: upload.chunkBytes, end: upload.bytes - 1 });
    file.on("data", (chunk) => {
      sentBytes += chunk.length;
      progress({ sentBytes });
    });
    pipeline(file, request, (error) => {
      if (error) reject(error);
    });
  });
}
