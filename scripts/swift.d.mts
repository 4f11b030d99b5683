// SPDX-License-Identifier: MIT OR Apache-2.0
/** The Swift of this machine, or undefined without one. `own` is the folder in which set-up installed it. */
export function toolchain(): { swift: string; version: string; own?: string } | undefined;
/** Instructions for a machine without Swift. */
export const missing: string;
/** The command of a program that `compile` has compiled, as a list, or undefined if it is missing. */
export function program(name: string): [string, ...string[]] | undefined;
/** Compiles without optimisation: all targets, or with `--product NAME` that one. Returns the exit status. Writes to stderr only. */
export function compile(...options: string[]): number;
