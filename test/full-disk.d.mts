// SPDX-License-Identifier: MIT OR Apache-2.0
/** Returns a function that ends it. */
export function fillDisk(folder: string, at: number): () => void;
