// SPDX-License-Identifier: MIT OR Apache-2.0
// Describes an upload as plain data. Both hosts and all workers use it.
import { numberParam, type Work } from "../protocol/measured.js";

/** One upload: the source, the sizes in bytes and the URL. `source` is a path in Node and a Blob in a browser. */
export interface Upload {
  source: string | Blob;
  bytes: number;
  chunkBytes: number;
  url: string;
}

export interface Progress {
  sentBytes: number;
}

/** Returns the upload for a cell's parameters. */
export function uploadOf({ params, fixture }: Work, source: string | Blob): Upload {
  return {
    source,
    bytes: numberParam(params, "fileBytes"),
    chunkBytes: numberParam(params, "chunkBytes"),
    url: fixture.httpUrl + "/upload",
  };
}
