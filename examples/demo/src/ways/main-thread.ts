// SPDX-License-Identifier: MIT OR Apache-2.0
import { fetchAndRestore } from "../work/photo.js";
import { buildRows } from "../work/students.js";
import { uploadInChunks } from "../work/upload.js";
import type { Way } from "./way.js";

export const mainThread: Way = {
  ready: async () => {},
  students: async (count) => buildRows(count),
  photo: (url) => fetchAndRestore(url),
  upload: (file, url, onProgress) => uploadInChunks(file, url, onProgress),
};
