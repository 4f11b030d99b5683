// SPDX-License-Identifier: MIT OR Apache-2.0
// The upload as data, free of any host: what both hosts and all workers agree on.
import { numberParam, type Work } from "../mechanism/measured.js";

/** What is sent, where to and how. `source` is a path in Node and a Blob in a browser. */
export interface Upload {
  source: string | Blob;
  bytes: number;
  chunkBytes: number;
  url: string;
}

export interface Progress {
  sentBytes: number;
}

/** The upload that a cell's parameters ask for. */
export function uploadOf({ params, fixture }: Work, source: string | Blob): Upload {
  return {
    source,
    bytes: numberParam(params, "fileBytes"),
    chunkBytes: numberParam(params, "chunkBytes"),
    url: fixture.httpUrl + "/upload",
  };
}
