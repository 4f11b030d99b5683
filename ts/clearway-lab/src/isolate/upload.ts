// SPDX-License-Identifier: MIT OR Apache-2.0
// Uploads a file to a local server in chunks, with progress. The file is a path in Node and a Blob in a browser.
import * as Comlink from "comlink";
import { openUpload, openWorker, sendInChunks } from "#lab-host";
import type { Progress, Upload } from "../host/common.js";
import type { Mechanism } from "../protocol/measured.js";
import type { Json } from "../protocol/message.js";
import type { BareRequest } from "../work/isolate-bare.js";
import type { ComlinkIsolate } from "../work/isolate-comlink.js";
import { metered } from "./metered.js";

/** Maximum size of the warm-up upload, in bytes. It warms the code up without doubling the time of the largest chunks. */
const WARM_UP_BYTES_MAX = 1 << 20;

type SendUpload = (upload: Upload, progress: (progress: Progress) => void) => Promise<number>;

export function uploadMechanism(open: () => Promise<{ send: SendUpload; close(): Promise<void> }>): Mechanism {
  return async (work) => {
    const upload = openUpload(work);
    const { send, close } = await open();
    try {
      await send({ ...upload, bytes: Math.min(upload.bytes, upload.chunkBytes * 4, WARM_UP_BYTES_MAX) }, () => {});
      const measured = await metered(() => uploadOnce(send, upload));
      const ms = measured.values["totalRuntime"]!.value;
      measured.values["throughput"] = { unit: "MB/s", value: upload.bytes / 1e6 / (ms / 1000) };
      measured.values["timePerMegabyte"] = { unit: "ms/MB", value: ms / (upload.bytes / 1e6) };
      return measured;
    } finally {
      await close();
    }
  };
}

async function uploadOnce(send: SendUpload, upload: Upload): Promise<Json> {
  let last = 0;
  let decreases = 0;
  const receivedBytes = await send(upload, ({ sentBytes }) => {
    if (sentBytes < last) decreases++;
    last = sentBytes;
  });
  return { receivedBytes, progressReached: last, progressWentBack: decreases };
}

const main = uploadMechanism(async () => ({ send: sendInChunks, close: async () => {} }));

const bare = uploadMechanism(async () => {
  const worker = openWorker("isolate-bare");
  let onMessage: (message: Progress | { receivedBytes: number }) => void = () => {};
  worker.listen((message) => onMessage(message as Progress));
  return {
    send: (upload, progress) =>
      new Promise((resolve) => {
        onMessage = (message) => ("receivedBytes" in message ? resolve(message.receivedBytes) : progress(message));
        worker.post({ op: "upload", upload } satisfies BareRequest);
      }),
    close: () => worker.end(),
  };
});

const comlink = uploadMechanism(async () => {
  const worker = openWorker("isolate-comlink");
  const remote = Comlink.wrap<ComlinkIsolate>(worker.endpoint());
  return {
    send: (upload, progress) => remote.send(upload, Comlink.proxy(progress)),
    close: async () => {
      remote[Comlink.releaseProxy]();
      await worker.end();
    },
  };
});

export const uploads: Record<string, Mechanism> = {
  "main-thread": main,
  "worker-postmessage": bare,
  comlink,
};
