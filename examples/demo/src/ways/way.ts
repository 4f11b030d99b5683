// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Restored } from "../work/photo.js";
import type { Roster } from "../work/students.js";
import type { Progress, Receipt } from "../work/upload.js";

/** The three jobs, done in one way. Every way gives the page the same results. */
export interface Way {
  /** Resolves when its worker, if any, has started. So no measurement contains the start-up of a worker. */
  ready(): Promise<void>;
  students(count: number): Promise<Roster>;
  photo(url: string): Promise<Restored>;
  upload(file: Blob, url: string, onProgress: (progress: Progress) => void): Promise<Receipt>;
}
