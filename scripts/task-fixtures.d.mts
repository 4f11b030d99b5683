// SPDX-License-Identifier: MIT OR Apache-2.0
/** Compiles the files `*.tasks.ts` of a folder, and those named in `imported`, into its folder `built`. */
export function compileTaskFixtures(folder: URL, imported?: readonly string[]): Promise<void>;
