// SPDX-License-Identifier: MIT OR Apache-2.0
export const folder: string;
export const oldest: number;
export const foreignMin: number;
export const missing: { jdk: string; maven: string };
export function release(home: string): number | undefined;
export function jdks(): Map<number, string>;
export function chosen(found?: Map<number, string>): { builds: number | undefined; newest: number | undefined };
export function hasForeign(found: Map<number, string>): boolean;
export function maven(args: string[], found?: Map<number, string>, stdio?: string): number;
