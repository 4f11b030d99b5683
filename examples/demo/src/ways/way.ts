// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Restored } from "../work/photo.js";
import type { Roster } from "../work/students.js";
import type { Progress, Receipt } from "../work/upload.js";

/** The three jobs, done in one way. Every way gives the page the same results. */
export interface Way {
  /** Resolves when its worker, if it has one, has started: nobody's start-up is in a measurement. */
  ready(): Promise<void>;
  students(count: number): Promise<Roster>;
  photo(url: string): Promise<Restored>;
  upload(file: Blob, url: string, onProgress: (progress: Progress) => void): Promise<Receipt>;
}
