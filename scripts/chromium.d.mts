// SPDX-License-Identifier: MIT OR Apache-2.0
export function findChromium(): string | undefined;
export function chromiumMissing(): string;
export function chromiumPath(): string;
export const chromiumFlags: string[];
