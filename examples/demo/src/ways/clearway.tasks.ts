// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose, task } from "clearway/worker";
import { fetchAndRestore } from "../work/photo.js";
import { buildColumns } from "../work/students.js";
import { uploadInChunks } from "../work/upload.js";

export default expose({
  students: buildColumns,
  photo: fetchAndRestore,
  upload: task(({ signal, progress }, file: Blob, url: string) => uploadInChunks(file, url, progress, signal)),
});
