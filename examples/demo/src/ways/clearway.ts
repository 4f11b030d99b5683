// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { Students } from "../work/students.js";
import type { Way } from "./way.js";

const jobs = pool<typeof import("./clearway.tasks.js")>(new URL("./clearway.tasks.js", import.meta.url), { size: 1 });

export const clearway: Way = {
  ready: () => jobs.ready(),
  students: async (count) => {
    const { value, steps } = await jobs.call.students(count);
    return { value: new Students(value), steps };
  },
  photo: (url) => jobs.call.photo(url),
  upload: (file, url, onProgress) => jobs.with({ onProgress }).call.upload(file, url),
};
