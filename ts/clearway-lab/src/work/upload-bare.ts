// SPDX-License-Identifier: MIT OR Apache-2.0
// Uploads from the worker. Posts the progress after every chunk, and at the end the number of bytes that the server confirmed.
import { parent, sendInChunks } from "#lab-host";
import type { Upload } from "../host/upload-source.js";

const main = parent();

main.listen(async (message) => {
  const receivedBytes = await sendInChunks(message as Upload, (progress) => main.post(progress));
  main.post({ receivedBytes });
});
