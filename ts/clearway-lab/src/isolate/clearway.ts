// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's mechanisms of this family. They are in one file, so that a process that measures another one does not load the library.
import { move, pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Progress } from "../host/common.js";
import type { Mechanism } from "../protocol/measured.js";
import { type CrossingContent, crossingMechanism } from "./crossing.js";
import { imageMechanism, jsonMechanism } from "./fetch.js";
import { fetchImage } from "./image.js";
import { type PoolUnderTest, poolMechanism } from "./pool.js";
import { StudentRows } from "./student.js";
import { publishedMechanism, studentsMechanism } from "./students.js";
import { uploadMechanism } from "./upload.js";

const openTasks = () => pool<typeof import("../work/isolate-tasks.js")>(workerUrl("isolate-tasks"), { size: 1 });

export const studentsClearway: Record<string, Mechanism> = {
  "clearway-columns": studentsMechanism(async () => {
    const workers = openTasks();
    return {
      make: async (rows) => new StudentRows(await workers.call.columns(rows)),
      close: () => workers.close(),
    };
  }),
  "clearway-records": studentsMechanism(async () => {
    const workers = openTasks();
    return { make: (rows) => workers.call.records(rows), close: () => workers.close() };
  }),
};

export const studentsPublishedClearway: Record<string, Mechanism> = {
  "clearway-records": publishedMechanism(async () => {
    const workers = openTasks();
    return { make: (rows) => workers.call.records(rows), close: () => workers.close() };
  }),
};

function jsonClearway(result: "objects" | "records"): Mechanism {
  return jsonMechanism(async () => {
    const workers = openTasks();
    return {
      read: (url) => (result === "objects" ? workers.call.fetchObjects(url) : workers.call.fetchRecords(url)),
      close: () => workers.close(),
    };
  });
}

export const jsonBodiesClearway: Record<string, Mechanism> = {
  "clearway-objects": jsonClearway("objects"),
  "clearway-records": jsonClearway("records"),
};

function imageClearway(delivery: "copy" | "move" | "fetch"): Mechanism {
  return imageMechanism(async () => {
    const workers = openTasks();
    return {
      make: async (url) => {
        if (delivery === "fetch") return workers.call.fetchAndShrink(url);
        const rgba = await fetchImage(url);
        return workers.call.shrink(delivery === "move" ? move(rgba) : rgba);
      },
      close: () => workers.close(),
    };
  });
}

export const imagesClearway: Record<string, Mechanism> = {
  "clearway-copy": imageClearway("copy"),
  "clearway-move": imageClearway("move"),
  "clearway-fetch": imageClearway("fetch"),
};

// One crossing through Clearway's pool. A result's bytes always move; an argument's bytes move if the caller says so.

function crossingClearway(kind: CrossingContent, moves: boolean): Mechanism {
  return crossingMechanism(kind, async (bytes) => {
    const workers = openTasks();
    return {
      take: (content) => workers.call.take(moves ? move(content as Uint8Array) : content),
      give: () => workers.call.give(kind, bytes),
      close: () => workers.close(),
    };
  });
}

export const crossingsClearway: Record<string, Mechanism> = {
  "clearway-bytes-copied": crossingClearway("bytes", false),
  "clearway-bytes-moved": crossingClearway("bytes", true),
  "clearway-objects": crossingClearway("objects", false),
};

export const uploadsClearway: Record<string, Mechanism> = {
  clearway: uploadMechanism(async () => {
    const workers = openTasks();
    return {
      send: (upload, progress) =>
        workers.with({ onProgress: (value) => progress(value as Progress) }).call.send(upload),
      close: () => workers.close(),
    };
  }),
};

export async function openClearway(carrier: "auto" | "port"): Promise<PoolUnderTest> {
  const make = () => pool<typeof import("../work/pool-tasks.js")>(workerUrl("pool-tasks"), { size: 1, carrier });
  let workers: ReturnType<typeof make>;
  return {
    start: () => {
      workers = make();
    },
    call: (task) => workers.call.run(task),
    close: () => workers.close(),
  };
}

export const poolsClearway: Record<string, Mechanism> = {
  clearway: poolMechanism(() => openClearway("auto")),
  "clearway-port": poolMechanism(() => openClearway("port")),
};
