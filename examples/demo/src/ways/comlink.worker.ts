// SPDX-License-Identifier: MIT OR Apache-2.0
import * as Comlink from "comlink";
import { fetchAndRestore } from "../work/photo.js";
import { buildRows } from "../work/students.js";
import { type Progress, uploadInChunks } from "../work/upload.js";

const jobs = {
  students: (count: number) => buildRows(count),

  // Comlink moves the buffers that `transfer` names, as its documentation advises.
  async photo(url: string) {
    const restored = await fetchAndRestore(url);
    const { pixels, preview } = restored.value;
    return Comlink.transfer(restored, [pixels.buffer, preview.pixels.buffer]);
  },

  upload: (file: Blob, url: string, onProgress: (progress: Progress) => void) => uploadInChunks(file, url, onProgress),
};

export type Jobs = typeof jobs;

Comlink.expose(jobs);
