// SPDX-License-Identifier: MIT OR Apache-2.0
// The same upload with Comlink. Its progress calls a proxied callback. The last of these calls is awaited, so that none arrives after
// the result.
import * as Comlink from "comlink";
import { parent, sendInChunks } from "#lab-host";
import type { Progress, Upload } from "../host/upload-source.js";

const remote = {
  async send(upload: Upload, progress: (progress: Progress) => unknown): Promise<number> {
    let last: unknown;
    const received = await sendInChunks(upload, (value) => {
      last = progress(value);
    });
    await last;
    return received;
  },
};

export type ComlinkUpload = typeof remote;

Comlink.expose(remote, parent().endpoint());
