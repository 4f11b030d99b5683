// SPDX-License-Identifier: MIT OR Apache-2.0
/** The Swift of this machine, or undefined without one. `own` is the folder in which set-up installed it. */
export function toolchain(): { swift: string; version: string; own?: string } | undefined;
/** Instructions for a machine without Swift. */
export const missing: string;
/** The path of a product that `build` has made. It runs without Swift. */
export function product(name: string): string;
/** Builds the products, or only those that are named. Returns the exit status. Writes to stderr only. */
export function build(...names: string[]): number;
