// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Restored } from "../work/photo.js";
import type { Timed } from "../work/steps.js";
import type { Roster } from "../work/students.js";
import type { Progress, Receipt } from "../work/upload.js";

/** One implementation of the three jobs. Every way gives the page the same results, with the steps of the work. */
export interface Way {
  /** Resolves when the way's worker, if any, has started. A measurement therefore never includes the start of a worker. */
  ready(): Promise<void>;
  students(count: number): Promise<Timed<Roster>>;
  photo(url: string): Promise<Timed<Restored>>;
  upload(file: Blob, url: string, onProgress: (progress: Progress) => void): Promise<Timed<Receipt>>;
}
