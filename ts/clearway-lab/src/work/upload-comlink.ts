// SPDX-License-Identifier: MIT OR Apache-2.0
// The same upload behind Comlink, with progress through a proxied callback. The last call is awaited at the end, so that none
// comes late.
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
