// SPDX-License-Identifier: MIT OR Apache-2.0
// What a mechanism needs from its host, in Node. The browser's twin is browser.ts; the build picks one as #lab-host.
import { createReadStream } from "node:fs";
import http from "node:http";
import { pipeline } from "node:stream";
import v8 from "node:v8";
import { type MessagePort as NodePort, parentPort, Worker } from "node:worker_threads";
import type { Endpoint } from "comlink";
import nodeEndpoint from "comlink/dist/esm/node-adapter.mjs";
import { type Progress, type Upload, uploadOf } from "../isolate/upload-source.js";
import type { Work } from "../mechanism/measured.js";
import type { LabParent, LabWorker, PortEnd } from "./port.js";

export { allocatedBy } from "./allocated-node.js";

export const hostName = "node" as const;

/** The host's own serializer; a page has none but the structured clone. */
export const serializer = {
  encode: (value: unknown): Uint8Array => v8.serialize(value),
  decode: (message: Uint8Array): unknown => v8.deserialize(message),
  size: (message: Uint8Array): number => message.length,
};

/** Milliseconds of the system's monotonic clock: the same for every thread and process, which performance.now() is not. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Lets the event loop turn once, without sleeping. */
export function turn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** URL of a worker's built file; every entry stands in one flat folder. */
export function workerUrl(name: string): URL {
  return new URL(`./work-${name}.js`, import.meta.url);
}

/** Starts a worker by hand, as the reference mechanisms do. The caller ends it. */
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

/** The other end of openWorker, inside the worker. Throws on the main thread. */
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

/** One end of a MessageChannel, in whichever thread it is. */
export function portEnd(port: MessagePort): PortEnd {
  // The same object: Node's port has both faces.
  const own = port as unknown as NodePort;
  return {
    port,
    post: (message, transfer = []) => own.postMessage(message, transfer as never),
    listen: (receive) => {
      own.on("message", receive);
    },
    endpoint: () => nodeEndpoint(own) as Endpoint,
    close: () => own.close(),
  };
}

/** Ends the calling worker at once, as a crash would. */
export function crash(): never {
  process.exit(1);
}

/** The file of the fixture, cut to the cell's size. */
export function openUpload(work: Work): Upload {
  return uploadOf(work, work.fixture.filePath);
}

/**
 * Streams the file by path in one request, a chunk at a time, and waits where the socket asks for it. Calls `progress`
 * after each chunk was handed to the socket. Resolves to the bytes that the server confirmed.
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
