// SPDX-License-Identifier: MIT OR Apache-2.0
// A typical hand-written client of a worker: each request has an id, a map has the pending requests, and results are structured clones.
import type { Restored } from "../work/photo.js";
import type { Timed } from "../work/steps.js";
import type { Student } from "../work/students.js";
import type { Progress, Receipt } from "../work/upload.js";
import type { Way } from "./way.js";

export type Question = { id: number } & (
  | { job: "ready" }
  | { job: "students"; count: number }
  | { job: "photo"; url: string }
  | { job: "upload"; file: Blob; url: string }
);

export type Answer = { id: number } & (
  | { kind: "result"; value: unknown }
  | { kind: "progress"; progress: Progress }
  | { kind: "error"; message: string }
);

type Job = Question extends infer Each ? (Each extends Question ? Omit<Each, "id"> : never) : never;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onProgress?: ((progress: Progress) => void) | undefined;
}

const worker = new Worker(new URL("./by-hand.worker.js", import.meta.url), { type: "module" });
const waiting = new Map<number, Waiting>();
let lastId = 0;

worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
  const caller = waiting.get(data.id);
  if (data.kind === "progress") return caller?.onProgress?.(data.progress);
  waiting.delete(data.id);
  if (data.kind === "result") caller?.resolve(data.value);
  else caller?.reject(new Error(data.message));
});

worker.addEventListener("error", (event) => {
  for (const caller of waiting.values()) caller.reject(new Error(event.message));
  waiting.clear();
});

function ask<Result>(job: Job, onProgress?: (progress: Progress) => void): Promise<Result> {
  const id = ++lastId;
  return new Promise<Result>((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, onProgress });
    worker.postMessage({ ...job, id });
  });
}

export const byHand: Way = {
  ready: () => ask<void>({ job: "ready" }),
  students: (count) => ask<Timed<Student[]>>({ job: "students", count }),
  photo: (url) => ask<Timed<Restored>>({ job: "photo", url }),
  upload: (file, url, onProgress) => ask<Timed<Receipt>>({ job: "upload", file, url }, onProgress),
};
