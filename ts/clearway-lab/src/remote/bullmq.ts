// SPDX-License-Identifier: MIT OR Apache-2.0
// BullMQ, a queue of jobs in Redis, set up as its documentation recommends: workers with a concurrency of their own, finished jobs removed,
// results from its stream of events. Node only.
import { Queue, QueueEvents, Worker } from "bullmq";
import type { RemoteKind, RemotePlace } from "./kind.js";

/** Number of jobs that a worker process runs at once. A job here computes nothing, so many may run. */
const CONCURRENCY = 100;

/** A job is JSON, so bytes are base64. */
interface Job {
  base64: string;
}

/** Only workers must retry for ever: a caller's request should fail instead. */
function connectionOf({ url }: RemotePlace, retriesMax: number | null) {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port), maxRetriesPerRequest: retriesMax };
}

function kind(durable: boolean): RemoteKind {
  return {
    server: "redis-server",
    durable,
    async open(place) {
      const queue = new Queue<Job>(place.name, {
        connection: connectionOf(place, 20),
        defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
      });
      // From the first event on: by default, an event before the first read would be missed, and its call would stay open.
      const events = new QueueEvents(place.name, { connection: connectionOf(place, null), lastEventId: "0-0" });
      const pending = new Map<string, { resolve(job: Job): void; reject(error: Error): void }>();
      let nextId = 0;
      events.on("completed", ({ jobId, returnvalue }) => {
        pending.get(jobId)?.resolve(returnvalue as unknown as Job);
        pending.delete(jobId);
      });
      events.on("failed", ({ jobId, failedReason }) => {
        pending.get(jobId)?.reject(new Error(failedReason));
        pending.delete(jobId);
      });
      await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
      return {
        async call(bytes) {
          const jobId = `job-${nextId++}`;
          const answer = new Promise<Job>((resolve, reject) => pending.set(jobId, { resolve, reject }));
          await queue.add("same", { base64: Buffer.from(bytes).toString("base64") }, { jobId });
          return Buffer.from((await answer).base64, "base64");
        },
        async close() {
          await events.close();
          await queue.close();
        },
      };
    },
    async serve(place) {
      const worker = new Worker<Job, Job>(place.name, async ({ data }) => data, {
        connection: connectionOf(place, null),
        concurrency: CONCURRENCY,
      });
      await worker.waitUntilReady();
      return {};
    },
  };
}

export const bullmqKind = kind(false);
export const bullmqDurableKind = kind(true);
